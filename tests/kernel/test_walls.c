/* Each wall of a leg, beside a control arm: the same act where that wall does not stand. */
#include "plot.h"

#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct plot plot;

static int set_up(void **state)
{
    plot_make(&plot);
    return 0;
}

static int tear_down(void **state)
{
    plot_clear(&plot);
    return 0;
}

/* ---- files ---- */

static void test_write_outside(void **state)
{
    const char *act = "echo x > $G/out/f";
    struct play play;

    plot_directory(&plot, "out", SOMEONE);
    plot_directory(&plot, "in", SOMEONE);
    assert_int_equal(control(&plot, SOMEONE, act), 0);

    play = plot_play(&plot, "out", PLAN_MOUNT_WRITE); /* control: granted */
    expect_status(&play, act, 0);
    play = plot_play(&plot, "in", PLAN_MOUNT_WRITE); /* the view: it is not there */
    expect_output(&play, act, FAILS, "nonexistent");
    play = plot_play(&plot, "out", PLAN_MOUNT_READ); /* the mount alone */
    play.without_landlock = true;
    expect_output(&play, act, FAILS, "Read-only file system");
    play.mounts[0].other_mount = true; /* neither mount nor Landlock: it goes through */
    expect_status(&play, act, 0);
    play.without_landlock = false; /* Landlock alone */
    expect_output(&play, act, FAILS, "Permission denied");
}

static void test_system_is_read_only(void **state)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);

    play.uid = play.gid = 0; /* as the owner of those files */
    expect_status(&play, "! touch /usr/x && ! touch /etc/x && ! touch /x && ! touch /dev/x", 0);
    expect_status(&play, "touch /tmp/x /run/x /dev/shm/x $HOME/x", 0);
    play.uid = play.gid = SOMEONE;
    expect_status(&play, "touch /tmp/x /run/x /dev/shm/x $HOME/x && mkdir /tmp/d", 0);
}

static void test_read_outside(void **state)
{
    auto_close int secret = -EBADF;
    struct play play;

    plot_file(&plot, "secret", "the secret", SOMEONE);
    assert_int_equal(chmod(plot_path(&plot, "secret"), 0666), 0);
    plot_directory(&plot, "in", SOMEONE);
    assert_int_equal(control(&plot, SOMEONE, "cat $G/secret"), 0);

    play = plot_play(&plot, "in", PLAN_MOUNT_WRITE); /* the view */
    expect_output(&play, "cat $G/secret", FAILS, "No such file");
    expect_output(&play, "ls -a $G", 0, "in");

    /* Landlock: what leads out of the view through a descriptor of the client's. */
    secret = open(plot_path(&plot, "secret"), O_RDONLY | O_CLOEXEC);
    assert_true(secret >= 0);
    play.stdin_fd = secret;
    expect_output(&play, "cat", 0, "the secret");
    expect_output(&play, "cat /proc/self/fd/0", FAILS, "Permission denied");
    play.without_landlock = true;
    expect_output(&play, "cat /proc/self/fd/0", 0, "the secret");
}

static void test_masks(void **state)
{
    struct play play;

    plot_file(&plot, "key", "the key", SOMEONE);
    plot_directory(&plot, "keys", SOMEONE);
    plot_file(&plot, "keys/one", "the key", SOMEONE);
    plot_link(&plot, "link", "key");
    play = plot_play(&plot, "", PLAN_MOUNT_WRITE);
    expect_output(&play, "cat $G/key $G/keys/one", 0, "the keythe key");
    play.masks[0] = plot_path(&plot, "link"); /* what it leads to is what would be read */
    play.masks[1] = plot_path(&plot, "keys");
    play.masks[2] = "/nothing/here";
    expect_output(&play, "cat $G/key", FAILS, "Permission denied");
    expect_output(&play, "ls $G/keys", FAILS, "Permission denied");
    play.uid = play.gid = 0; /* whose the cover is */
    expect_output(&play, "cat $G/key", FAILS, "Permission denied");
    expect_status(&play, "! chmod 700 $G/key && ! ls $G/keys", 0);
    play.uid = play.gid = SOMEONE;
    expect_status(&play, "! echo x > $G/key && ! rm $G/key && ! touch $G/keys/x", 0);
    expect_status(&play, "test -z \"$(ls -A /tmp)\"", 0);
}

static void test_owners(void **state)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);
    struct stat st;

    expect_status(&play, "cd $G && touch f && mkdir d && ln -s f l && test -O f && test -G d", 0);
    expect_output(&play, "stat -c %u:%g $G/f", 0, "1000:1000");
    expect_output(&play, "stat -c %u:%g /etc/passwd", 0, "0:0");
    assert_int_equal(lstat(plot_path(&plot, "f"), &st), 0);
    assert_int_equal(st.st_uid, SOMEONE);
    assert_int_equal(st.st_gid, SOMEONE);
    /* Somebody else's file in the grant is as closed as it is to the requester. */
    plot_file(&plot, "other", "text", 4242);
    expect_status(&play, "! echo x >> $G/other && ! chmod 777 $G/other && cat $G/other", 0);
}

static void test_rename_and_link(void **state)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);

    expect_status(&play,
        "cd $G && mkdir -p a/b c && echo x > a/f && mv a/f c/g && ln c/g a/b/h && mv a/b c/ && "
        "cat c/b/h && rm -r a c",
        0);
}

/* A mount made on the host below a grant, later, must not come in. */
static void mount_below(pid_t stub, void *context)
{
    assert_int_equal(mount("none", context, "tmpfs", 0, "mode=0777"), 0);
}

static void test_later_mounts(void **state)
{
    char below[128];
    struct play play;

    plot_directory(&plot, "below", SOMEONE);
    strcpy(below, plot_path(&plot, "below"));
    /* Shared, as a host under systemd has it. */
    assert_int_equal(mount(plot.path, plot.path, NULL, MS_BIND, NULL), 0);
    assert_int_equal(mount(NULL, plot.path, NULL, MS_SHARED, NULL), 0);
    play = plot_play(&plot, "", PLAN_MOUNT_WRITE);
    play.before_go = mount_below;
    play.context = below;
    (void)play_script(&play, "grep -c below /proc/self/mounts; stat -f -c %T $G/below", &last);
    assert_int_equal(umount2(below, MNT_DETACH), 0);
    assert_int_equal(umount2(plot.path, MNT_DETACH), 0);
    assert_int_equal(last.wait_status, 0);
    assert_int_equal(strncmp(last.output, "0\n", 2), 0);
    assert_null(strstr(last.output, "tmpfs"));
}

static void test_scratch_is_bounded(void **state)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE); /* 64 MiB for all of it */

    expect_status(&play,
        "head -c 41943040 /dev/zero > /tmp/a && ! head -c 41943040 /dev/zero > /dev/shm/b && "
        "rm /tmp/a && head -c 20971520 /dev/zero > $HOME/c",
        0);
    expect_status(&play,
        "cd /tmp && seq 20000 | xargs mkdir 2>/dev/null; set -- *; test $# -gt 9000 && test $# -lt "
        "17000",
        0);
}

/* ---- processes ---- */

static void test_signals_out(void **state)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);
    char script[128];
    pid_t canary = fork();

    assert_true(canary >= 0);
    if (canary == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (setresgid(SOMEONE, SOMEONE, SOMEONE) == 0 && setresuid(SOMEONE, SOMEONE, SOMEONE) == 0)
            (void)pause();
        _exit(1);
    }
    (void)snprintf(script, sizeof(script), "kill -0 %d", canary);
    while (control(&plot, SOMEONE, script) != 0) /* until it has become someone */
        (void)usleep(1000);
    expect_output(&play, script, FAILS, "No such process");
    expect_output(&play, "sleep 9 & kill -9 -1; wait $!; echo $?", 0, "137"); /* all it can see */
    assert_int_equal(waitpid(canary, NULL, WNOHANG), 0);
    assert_int_equal(kill(canary, SIGKILL), 0);
    assert_int_equal(waitpid(canary, NULL, 0), canary);
}

static void test_pid1_is_out_of_reach(void **state)
{
    const uint32_t uids[] = {SOMEONE, 0};

    for (size_t i = 0; i < array_size(uids); i++) {
        struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);

        play.uid = play.gid = uids[i];
        expect_output(&play, "kill -9 1", FAILS, "not permitted");
        if (access("/usr/bin/prlimit", X_OK) == 0)
            expect_output(&play, "prlimit --pid 1 --nofile=1:1", FAILS, "not permitted");
        expect_status(&play, "! readlink /proc/1/fd/0 && ! readlink /proc/1/exe", 0);
        expect_output(&play, "echo 1000 > /proc/1/oom_score_adj", FAILS, "Read-only file system");
        expect_output(&play, "cat /proc/1/mem", FAILS, "Permission denied");
        expect_output(&play, "ls /proc/1/root/", FAILS, "Permission denied");
        expect_output(&play, "cat /proc/1/environ", FAILS, "Permission denied");
        expect_output(&play, "tr '\\0' ' ' < /proc/1/cmdline", 0, "saphan-stub ");
        expect_output(&play, "cat /proc/1/status", 0, "Uid:\t65533\t65533\t65533");
        expect_output(&play, "grep -c 'Cap.*0000000000000000' /proc/1/status", 0, "5");
        expect_output(&play, "grep NoNewPrivs /proc/1/status", 0, "1");
        expect_output(&play, "grep '^Seccomp:' /proc/1/status", 0, "2");
        /* The control: its own process is within its reach. */
        expect_status(&play,
            "sleep 9 & ls /proc/$!/fd && readlink /proc/$!/exe && echo 9 > /proc/$!/oom_score_adj "
            "&& kill $!",
            0);
    }
}

static void test_powerless(void **state)
{
    const uint32_t uids[] = {SOMEONE, 0};

    assert_int_equal(
        control(&plot, 0, "! grep -q 'CapEff.*0000000000000000' /proc/self/status"), 0);
    for (size_t i = 0; i < array_size(uids); i++) {
        struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);

        play.uid = play.gid = uids[i];
        expect_output(&play, "grep -c '^Cap.*0000000000000000$' /proc/self/status", 0, "5");
        expect_output(&play, "grep NoNewPrivs /proc/self/status", 0, "1");
        expect_output(&play, "grep '^Seccomp_filters:' /proc/self/status", 0, "1");
    }
}

static void test_identity(void **state)
{
    const uint32_t groups[] = {27, 1234};
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);

    expect_output(&play, "grep -E '^(Uid|Gid|Groups)' /proc/self/status", 0,
        "Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t ");
    play.groups = groups;
    play.n_groups = 2;
    expect_output(&play, "grep ^Groups /proc/self/status", 0, "Groups:\t27 1234 ");
    expect_status(&play, "test $(umask) = 0022", 0);
    expect_status(&play, "exec 3</dev/tty", FAILS);
    expect_output(&play, "cut -d' ' -f1,5-7 /proc/self/stat; echo $$", 0, " ");
    expect_status(&play, "set -- $(cat /proc/$$/stat); test $6 = $$ && test $7 = 0", 0);
}

static void test_descriptors_and_environment(void **state)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);

    play.argv = (const char *const[]){"ls", "/proc/self/fd", NULL}; /* 3 is what ls looks with */
    expect_output(&play, NULL, 0, "0\n1\n2\n3\n");
    assert_string_equal(last.output, "0\n1\n2\n3\n");
    play.argv = NULL;
    play.argv = (const char *const[]){"env", NULL};
    expect_output(&play, NULL, 0,
        "PATH=/usr/local/bin:/usr/bin:/bin\nLANG=C.UTF-8\nTERM=dumb\nTMPDIR=/tmp\nHOME=/home/"
        "leg\nG=");
    assert_string_equal(strchr(strstr(last.output, "\nG=") + 1, '\n'), "\n"); /* and no more */
    play.argv = NULL;
    expect_status(&play, "test $(ulimit -c) = 0", 0);
}

static void test_own_proc(void **state)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);

    play.uid = play.gid = 0; /* the knobs belong to root: the walls are mounts and Landlock */
    expect_output(&play, "echo vendor > /proc/$$/comm && read -r is < /proc/$$/comm && echo $is", 0,
        "vendor");
    expect_status(&play, "echo 5 > /proc/$$/oom_score_adj", 0);
    expect_status(&play, "! echo 1 > /proc/sys/kernel/sysrq", 0);
    expect_status(&play, "! echo 1 > /proc/sys/net/ipv4/ip_forward", 0);
    expect_status(&play, "! echo h > /proc/sysrq-trigger", 0);
    expect_status(&play,
        "for f in kmsg keys kallsyms timer_list; do "
        "test -e /proc/$f && test -n \"$(cat /proc/$f)\" && exit 1; done; exit 0",
        0);
}

/* ---- sandboxes inside ---- */

static void test_nested_sandbox(void **state)
{
    static const struct {
        const char *act, *told;
    } acts[] = {
        {"unshare -r true", "unshare: flags=0x10000000=CLONE_NEWUSER comm=unshare exe=/usr/bin/"},
        {"unshare -m true", "unshare: flags=0x20000=CLONE_NEWNS comm=unshare"},
        {"mount -t tmpfs none /tmp", "mount: "},
        {"umount /tmp", "umount2: "},
        {"PATH=$PATH:/usr/sbin chroot / true", "chroot: "},
        {"nsenter -n -t $$ true", "setns: "},
    };
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);

    play.uid = play.gid = 0; /* else mount(8) looks at the uid and does not even try */
    assert_int_equal(control(&plot, 0, "unshare -r true"), 0);
    assert_int_equal(control(&plot, 0, "unshare -m mount -t tmpfs none $G"), 0);
    assert_int_equal(control(&plot, 0, "chroot / true"), 0);
    for (size_t i = 0; i < array_size(acts); i++) {
        expect_status(&play, acts[i].act, FAILS);
        assert_true(last.n_told >= 1);
        if (strncmp(last.told, acts[i].told, strlen(acts[i].told)) != 0)
            fail_msg("told: %s, wanted: %s", last.told, acts[i].told);
    }
    expect_status(&play, "true", 0);
    assert_int_equal(last.n_told, 0);
}

static void test_flood_is_folded(void **state)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);

    expect_status(&play,
        "i=0; while test $i -lt 250; do unshare -r true; i=$((i + 1)); done 2>&-; "
        "exit 4",
        4);
    assert_int_equal(last.told_count, 250);
    assert_true(last.n_told <= 5); /* 1, 10, 100, 250 */
}

/* ---- network ---- */

static void test_network(void **state)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);

    expect_status(&play, "test $(tail -n +3 /proc/net/dev | wc -l) -eq 1", 0);
    expect_output(&play, "cat /proc/net/dev", 0, "lo:");
    expect_output(&play, "cat /proc/net/fib_trie", 0, "127.0.0.1"); /* it is up */
    play.host_network = true;
    expect_status(&play, "readlink /proc/self/ns/net", 0);
    assert_int_equal(control(&plot, 0, "true"), 0);
}

int main(void)
{
#define WALL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WALL(test_write_outside),
        WALL(test_system_is_read_only),
        WALL(test_read_outside),
        WALL(test_masks),
        WALL(test_owners),
        WALL(test_rename_and_link),
        WALL(test_later_mounts),
        WALL(test_scratch_is_bounded),
        WALL(test_signals_out),
        WALL(test_pid1_is_out_of_reach),
        WALL(test_powerless),
        WALL(test_identity),
        WALL(test_descriptors_and_environment),
        WALL(test_own_proc),
        WALL(test_nested_sandbox),
        WALL(test_flood_is_folded),
        WALL(test_network),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
