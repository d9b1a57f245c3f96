/* A root of its own: layers stacked, places that are ours, links of an image on the way to a grant,
 * capabilities, a sandbox inside; each denial beside a control arm. */
#include "plot.h"

#include "own.h"
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

static struct plot plot;

/* Two layers in the plot: "low" with the way to the host's programs, and "high" above it. */
static int set_up(void **state)
{
    static const char *const links[] = {"bin", "sbin", "lib", "lib64"};
    char name[32], target[32];

    plot_make(&plot);
    plot_directory(&plot, "low", 0);
    plot_directory(&plot, "high", 0);
    plot_directory(&plot, "low/usr", 0);
    plot_directory(&plot, "low/data", 0);
    plot_directory(&plot, "out", SOMEONE);
    for (size_t i = 0; i < array_size(links); i++) {
        (void)snprintf(name, sizeof(name), "low/%s", links[i]);
        (void)snprintf(target, sizeof(target), "usr/%s", links[i]);
        plot_link(&plot, name, target);
    }
    plot_file(&plot, "low/data/file", "of the image\n", 0);
    return 0;
}

static int tear_down(void **state)
{
    plot_clear(&plot);
    return 0;
}

/* As root by number, with the host's /usr; with a PLACE as SOMEONE, who is granted "out" there. */
static struct play box(const char *place)
{
    struct play play = {.variable = plot.variable,
        .layers = {plot_path(&plot, "high"), plot_path(&plot, "low")},
        .mounts = {{.path = "/usr", .kind = PLAN_MOUNT_READ}}};

    if (place) {
        play.uid = play.gid = SOMEONE;
        play.mounts[1] = (struct play_mount){
            .path = plot_path(&plot, "out"), .target = place, .kind = PLAN_MOUNT_WRITE};
    }
    return play;
}

static void test_the_root_is_the_image(void **state)
{
    struct play play = box(NULL);

    expect_output(&play, "cat /data/file", 0, "of the image");
    expect_output(&play, "touch /new", FAILS, "Read-only file system");
    expect_output(&play, "echo x > /data/file", FAILS, "Read-only file system");
    expect_output(&play, "mkdir /tmp/x /run/x /dev/shm/x && ls $G", FAILS, "No such file");
    play.writable_root = true; /* control; and what is written is nobody else's */
    expect_output(&play, "touch /new && echo x > /data/file && cat /data/file", 0, "x");
    assert_int_equal(control(&plot, 0, "grep -qx 'of the image' low/data/file"), 0);
    assert_int_equal(control(&plot, 0, "test -z \"$(ls -A high)\""), 0);
    play.writable_root = false;
    expect_output(&play, "cat /data/file", 0, "of the image");
    play.host_name = "a-name";
    expect_output(&play, "cat /proc/sys/kernel/hostname", 0, "a-name");
}

static void test_layers_hide_what_is_below(void **state)
{
    struct play play = box(NULL);

    plot_directory(&plot, "low/gone", 0);
    plot_directory(&plot, "low/shut", 0);
    plot_file(&plot, "low/shut/below", "", 0);
    plot_file(&plot, "low/both", "low\n", 0);
    play.layers[0] = play.layers[1]; /* control: the lower one alone */
    play.layers[1] = NULL;
    expect_output(&play, "ls -d /gone /shut/below && cat /both", 0, "low");
    play = box(NULL);
    assert_int_equal(mknod(plot_path(&plot, "high/gone"), S_IFCHR, makedev(0, 0)), 0);
    plot_directory(&plot, "high/shut", 0);
    plot_file(&plot, "high/both", "high\n", 0);
    assert_int_equal(setxattr(plot_path(&plot, "high/shut"), "user.overlay.opaque", "y", 1, 0), 0);
    expect_output(&play, "! ls -d /gone && test -z \"$(ls /shut)\" && cat /both", 0, "high");
}

static void test_places_of_ours(void **state)
{
    static const char *const look =
        "for d in proc sys dev run tmp; do test -d /$d && test ! -L /$d || exit 1; done;"
        "test -e /proc/self/exe && test -c /dev/null && echo x > /dev/null &&"
        "grep -q . /sys/devices/system/cpu/online && ! touch /sys/x && ! touch /proc/x &&"
        "touch /run/x /tmp/x && echo whole";
    struct play play = box(NULL);

    expect_output(&play, look, 0, "whole");
    plot_link(&plot, "high/proc", "/data");
    plot_link(&plot, "high/dev", "../../../../dev");
    plot_link(&plot, "high/run", "nowhere");
    plot_file(&plot, "high/sys", "", 0);
    plot_file(&plot, "high/tmp", "", 0);
    expect_output(&play, look, 0, "whole");
    expect_output(&play, "ls -A /data", 0, "file");
    expect_output(&play, "find /sys -type f | wc -l", 0, "3");
}

static void test_links_lead_where_they_would_inside(void **state)
{
    static const char *const places[] = {"/absolute/x", "/deep/up/x", "/top/data/x", "/etc"};
    struct play play;

    plot_link(&plot, "low/absolute", "/data");
    plot_directory(&plot, "low/deep", 0);
    plot_link(&plot, "low/deep/up", "../../../../../../data");
    plot_link(&plot, "low/top", "/");
    plot_link(&plot, "low/etc", "/data/x"); /* of a name that the host has; and it dangles */
    for (size_t i = 0; i < array_size(places); i++) {
        play = box(places[i]);
        expect_status(&play, "touch /data/x/made", 0);
        assert_int_equal(control(&plot, 0, "rm out/made"), 0);
    }
}

static void test_links_that_lead_nowhere(void **state)
{
    static const struct {
        const char *place;
        int error;
    } tries[] = {{"/loop/x", ELOOP}, {"/itself", ELOOP}, {"/toproc", EXDEV}, {"/todev/x", EXDEV},
        {"/toroot", EXDEV}, {"/magic/x", ELOOP}, {"/tofile/x", ENOTDIR}};
    struct play play;

    plot_link(&plot, "low/loop", "loop2");
    plot_link(&plot, "low/loop2", "/loop");
    plot_link(&plot, "low/itself", "itself");
    plot_link(&plot, "low/toproc", "/proc");
    plot_link(&plot, "low/todev", "dev");
    plot_link(&plot, "low/toroot", "../..");
    plot_link(&plot, "low/magic", "/proc/self/root");
    plot_link(&plot, "low/tofile", "data/file");
    for (size_t i = 0; i < array_size(tries); i++) {
        play = box(tries[i].place);
        expect_failure(&play, STEP_MOUNTS, tries[i].error);
    }
    play = box("/data/x"); /* control */
    expect_status(&play, "touch /data/x/made", 0);
}

static void test_grants_in_each_others_way(void **state)
{
    struct play play = box("/data/x");

    plot_directory(&plot, "other", SOMEONE);
    plot_link(&plot, "out/link", "/data");
    plot_link(&plot, "low/same", "/data/x");
    plot_link(&plot, "low/above", "/");
    play.mounts[2] = (struct play_mount){
        .path = plot_path(&plot, "other"), .target = "/data/x/link/y", .kind = PLAN_MOUNT_WRITE};
    expect_failure(&play, STEP_MOUNTS, ELOOP); /* a link that lies in a grant */
    play.mounts[2].target = "/same";
    expect_failure(&play, STEP_MOUNTS, EBUSY);
    play.mounts[2].target = "/above/data";
    expect_failure(&play, STEP_MOUNTS, EBUSY);
    play.mounts[2].target = "/above/data/y"; /* control */
    expect_status(&play, "touch /data/x/made /data/y/made", 0);
}

static void test_capabilities(void **state)
{
    static const char *const sets =
        "grep -h ^Cap /proc/self/status | cut -f 2 | sort -u | tr '\\n' ' '";
    static const uint32_t users[] = {0, SOMEONE};
    struct play play = box(NULL);

    for (size_t i = 0; i < array_size(users); i++) {
        play.uid = play.gid = users[i];
        play.capabilities = 0; /* control: none, root or not */
        expect_output(&play, sets, 0, "0000000000000000 ");
        expect_status(&play, "touch /tmp/x && ! chown 55 /tmp/x", 0);
        play.capabilities = UINT64_C(1) << CAP_CHOWN;
        expect_output(&play, sets, 0, "0000000000000001 ");
        assert_null(strstr(last.output, "0000000000000000"));
        expect_output(&play, "touch /tmp/x && chown 55 /tmp/x && stat -c %u /tmp/x", 0, "55");
    }
    /* It gains no other, and no file of the image gives one. */
    expect_status(&play, "! chmod 777 /data && ! mount -t tmpfs x /tmp && ! unshare -U true", 0);
    play.capabilities = UINT64_C(1) << CAP_SYS_ADMIN; /* what no plan can hold */
    expect_failure(&play, STEP_PLAN, EINVAL);
}

static void test_plans_of_two_kinds(void **state)
{
    struct play play = box(NULL);

    play.wrong_boundary = true; /* layers in a domain */
    expect_failure(&play, STEP_PLAN, EINVAL);
    play.layers[0] = NULL;
    play.capabilities = UINT64_C(1) << CAP_CHOWN; /* a capability in a domain */
    expect_failure(&play, STEP_PLAN, EINVAL);
}

static void test_a_sandbox_inside(void **state)
{
    struct play play = box(NULL);

    play.uid = play.gid = SOMEONE;
    expect_status(&play, "! unshare -Ur true", 0);
    assert_int_equal(last.n_told > 0, 1);
    play.nested_allowed = true;
    expect_output(
        &play, "unshare -Urmpf sh -c 'mount -t tmpfs x /tmp && touch /tmp/x && id -u'", 0, "0");
    assert_int_equal(last.n_told, 0);
    expect_status(&play, "unshare -Urm sh -c '! mount -o remount,bind,rw / && ! touch /new'", 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    static const struct CMUnitTest tests[] = {
        TEST(test_the_root_is_the_image),
        TEST(test_layers_hide_what_is_below),
        TEST(test_places_of_ours),
        TEST(test_links_lead_where_they_would_inside),
        TEST(test_links_that_lead_nowhere),
        TEST(test_grants_in_each_others_way),
        TEST(test_capabilities),
        TEST(test_plans_of_two_kinds),
        TEST(test_a_sandbox_inside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
