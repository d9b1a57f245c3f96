/* test_ear.c - saphan-ear, fed with records over a socket pair in the place of the kernel's. */
#include "started.h"

#include "audit.h"
#include "blockers.h"
#include "clock.h"
#include "messages.h"
#include <linux/netlink.h>
#include <sys/socket.h>

#define OURS "1879049192" /* an id of the range the ear is told of */
#define WAIT_MS 3000

static char empty[] = "/tmp/saphan-ear-XXXXXX";

struct scene {
    struct started ear;
    int kernel; /* our end of the pair */
};

static struct scene begin(void)
{
    char *const argv[] = {(char[]){"saphan-ear"}, (char[]){"1878982655"}, (char[]){"1879048192"},
        (char[]){"1879113727"}, NULL};
    struct scene scene;
    int pair[2], root;

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    root = open(empty, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(root >= 0);
    scene.ear = start_with_both("saphan-ear", argv, pair[1], root);
    close(root);
    close(pair[1]);
    scene.kernel = pair[0];
    return scene;
}

static void end(struct scene *scene)
{
    assert_int_equal(started_end(&scene->ear), 0);
    close(scene->kernel);
}

static void say(const struct scene *scene, uint16_t type, unsigned int serial, const char *text)
{
    struct {
        struct nlmsghdr header;
        char text[1024];
    } packet = {.header.nlmsg_type = type};
    int length =
        snprintf(packet.text, sizeof(packet.text), "audit(1796000818.183:%u): %s", serial, text);
    size_t size = sizeof(packet.header) + (size_t)length;

    assert_true(length < (int)sizeof(packet.text));
    assert_int_equal(send(scene->kernel, &packet, size, 0), (ssize_t)size);
}

static void say_made(const struct scene *scene, const char *domain, const char *uid)
{
    char text[256];

    (void)snprintf(text, sizeof(text),
        "domain=%s status=allocated mode=enforcing pid=4711 uid=%s exe=\"/s\" comm=\"s\"", domain,
        uid);
    say(scene, AUDIT_RECORD_LANDLOCK_DOMAIN, 1, text);
}

static void say_denied(
    const struct scene *scene, unsigned int serial, const char *domain, const char *path)
{
    char text[512];

    (void)snprintf(text, sizeof(text),
        "domain=%s blockers=fs.write_file path=\"%s\" dev=\"vda\" ino=7", domain, path);
    say(scene, AUDIT_RECORD_LANDLOCK_ACCESS, serial, text);
}

static void say_called(const struct scene *scene, unsigned int serial, const char *comm)
{
    char text[256];

    (void)snprintf(text, sizeof(text), "pid=99 comm=\"%s\" exe=\"/usr/bin/%s\"", comm, comm);
    say(scene, AUDIT_RECORD_SYSCALL, serial, text);
}

static void ask_out(const struct scene *scene)
{
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_HEAR_OUT, 0);
    assert_int_equal(
        seam_send(scene->ear.channel, &writer, &(struct seam_end){.value = 4711}, NULL, 0), 0);
}

static void assert_domain(const struct scene *scene, uint64_t domain, uint32_t state)
{
    struct seam_message message = started_hear(&scene->ear, SEAM_HEARD_DOMAIN);
    const struct seam_heard_domain *heard = message.fixed;

    assert_true(heard->domain == domain && heard->state == state && heard->pid == 4711);
    seam_message_done(&message);
}

/* The next denial's count. */
static uint64_t assert_heard(
    const struct scene *scene, uint64_t domain, const char *object, const char *comm)
{
    struct seam_message message = started_hear(&scene->ear, SEAM_HEARD);
    const struct seam_heard *heard = message.fixed;
    const char *who = seam_text(&message, heard->comm);
    uint64_t count = heard->count;

    assert_true(heard->domain == domain);
    assert_true(heard->blockers == UINT64_C(1) << BLOCKER_FS_WRITE_FILE);
    assert_string_equal(seam_text(&message, heard->object), object);
    if (comm)
        assert_string_equal(who, comm);
    else
        assert_null(who);
    seam_message_done(&message);
    return count;
}

static void a_denial_and_whose_it_was(void **state)
{
    struct scene scene = begin();
    struct seam_message message;

    (void)state;
    say_denied(&scene, 1, "a1", "/x");
    say_made(&scene, "a1", OURS);
    say_denied(&scene, 2, "a1", "/y"); /* another processor's comes between */
    say_called(&scene, 2, "touch");
    say_called(&scene, 1, "cat");
    assert_domain(&scene, 0xa1, HEARD_DOMAIN_ALLOCATED);
    assert_int_equal(assert_heard(&scene, 0xa1, "/y", "touch"), 1);
    assert_int_equal(assert_heard(&scene, 0xa1, "/x", "cat"), 1);
    ask_out(&scene);
    message = started_hear(&scene.ear, SEAM_HEARD_OUT);
    assert_true(((const struct seam_end *)message.fixed)->value == 4711);
    seam_message_done(&message);
    say(&scene, AUDIT_RECORD_LANDLOCK_DOMAIN, 3, "domain=a1 status=deallocated denials=2");
    assert_domain(&scene, 0xa1, HEARD_DOMAIN_DEALLOCATED);
    end(&scene);
}

/* No record of the call: the denial is told after a moment, without a who. */
static void a_denial_of_nobody(void **state)
{
    struct scene scene = begin();

    (void)state;
    say_made(&scene, "a1", OURS);
    say_denied(&scene, 1, "a1", "/x");
    assert_domain(&scene, 0xa1, HEARD_DOMAIN_ALLOCATED);
    assert_int_equal(assert_heard(&scene, 0xa1, "/x", NULL), 1);
    end(&scene);
}

/* A domain of somebody else on this machine is nobody's business. */
static void a_stranger(void **state)
{
    struct scene scene = begin();

    (void)state;
    say_made(&scene, "b2", "1000");
    say_denied(&scene, 1, "b2", "/secret");
    say_called(&scene, 1, "cat");
    say_made(&scene, "a1", OURS);
    say_denied(&scene, 2, "a1", "/x");
    say_called(&scene, 2, "cat");
    assert_domain(&scene, 0xa1, HEARD_DOMAIN_ALLOCATED);
    assert_int_equal(assert_heard(&scene, 0xa1, "/x", "cat"), 1);
    end(&scene);
}

static void a_flood_is_folded(void **state)
{
    struct scene scene = begin();
    uint64_t count, messages = 0;
    struct pollfd waiting;
    uint64_t began = clock_monotonic_us();

    (void)state;
    say_made(&scene, "a1", OURS);
    for (unsigned int i = 0; i < 10000; i++) {
        say_denied(&scene, i, "a1", "/x");
        say_called(&scene, i, "sh");
    }
    print_message(
        "10,000 denials in %u ms\n", (unsigned int)((clock_monotonic_us() - began) / 1000));
    ask_out(&scene);
    assert_domain(&scene, 0xa1, HEARD_DOMAIN_ALLOCATED);
    do {
        count = assert_heard(&scene, 0xa1, "/x", "sh");
        messages++;
    } while (count < 10000);
    assert_int_equal(count, 10000);
    assert_true(messages <= 6); /* 1, 10, 100, 1000, 10000, and what was asked for */
    waiting = (struct pollfd){.fd = scene.ear.channel, .events = POLLIN};
    assert_int_equal(poll(&waiting, 1, WAIT_MS), 1);
    end(&scene);
}

/* However many paths there are, what is told of one domain is bounded, and nothing is uncounted. */
static void a_flood_of_paths_is_bounded(void **state)
{
    struct scene scene = begin();
    uint64_t told[2] = {0}, further = 0;
    size_t messages = 0;
    bool out = false;

    (void)state;
    say_made(&scene, "a1", OURS);
    for (unsigned int i = 0; i < 5000; i++) {
        char path[32];

        (void)snprintf(path, sizeof(path), "/%u", i);
        say_denied(&scene, i, "a1", path);
        say_called(&scene, i, "sh");
    }
    ask_out(&scene);
    assert_domain(&scene, 0xa1, HEARD_DOMAIN_ALLOCATED);
    while (!out) {
        struct pollfd waiting = {.fd = scene.ear.channel, .events = POLLIN};
        struct seam_message message;

        assert_int_equal(poll(&waiting, 1, WAIT_MS), 1);
        assert_int_equal(seam_receive(scene.ear.channel, &message), 0);
        if (message.header.type == SEAM_HEARD) {
            const struct seam_heard *heard = message.fixed;

            told[0] += !heard->further;
            if (heard->further)
                further = heard->count;
            messages++;
        }
        out = message.header.type == SEAM_HEARD_OUT;
        seam_message_done(&message);
    }
    assert_true(told[0] + further == 5000);
    assert_true(messages < 270);
    end(&scene);
}

static void what_is_not_understood_is_counted(void **state)
{
    struct scene scene = begin();
    struct seam_message message;

    (void)state;
    say(&scene, AUDIT_RECORD_LANDLOCK_ACCESS, 1, "domain=zz blockers=fs.write_file");
    message = started_hear(&scene.ear, SEAM_HEARD_LOST);
    assert_true(((const struct seam_heard_lost *)message.fixed)->malformed == 1);
    seam_message_done(&message);
    say(&scene, AUDIT_RECORD_CONFIG_CHANGE, 2, "op=set audit_enabled=0 old=1");
    message = started_hear(&scene.ear, SEAM_HEARD_CHANGE);
    seam_message_done(&message);
    end(&scene);
}

static void its_walls(void **state)
{
    struct scene scene = begin();
    char path[64], root[64];
    ssize_t n;

    (void)state;
    say_made(&scene, "a1", OURS);
    assert_domain(&scene, 0xa1, HEARD_DOMAIN_ALLOCATED); /* it serves: the walls stand */
    assert_status(scene.ear.pid, "Uid", "1878982655\t1878982655\t1878982655\t1878982655");
    assert_status(scene.ear.pid, "Gid", "1878982655\t1878982655\t1878982655\t1878982655");
    assert_status(scene.ear.pid, "Groups", "");
    assert_status(scene.ear.pid, "CapPrm", "0000000000000000");
    assert_status(scene.ear.pid, "CapBnd", "0000000000000000");
    assert_status(scene.ear.pid, "NoNewPrivs", "1");
    assert_status(scene.ear.pid, "Seccomp", "2");
    (void)snprintf(path, sizeof(path), "/proc/%d/root", scene.ear.pid);
    n = readlink(path, root, sizeof(root) - 1);
    assert_true(n > 0);
    root[n] = '\0';
    assert_string_equal(root, empty);
    end(&scene);
}

/* The control arm of the filter: what the kernel's socket passes is locked to what was named. */
static void the_kernels_socket_is_locked(void **state)
{
    const uint16_t types[] = {AUDIT_RECORD_LANDLOCK_ACCESS};
    auto_close int fd = audit_listen();

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(audit_listen_only(fd, types, 1), 0);
    assert_int_equal(audit_listen_only(fd, types, 1), -EPERM);
    assert_int_equal(audit_listen_only(fd, types, 0), -EINVAL);
}

static int make_empty(void **state)
{
    (void)state;
    return mkdtemp(empty) ? 0 : -1;
}

static int remove_empty(void **state)
{
    (void)state;
    return rmdir(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_denial_and_whose_it_was),
        cmocka_unit_test(a_denial_of_nobody),
        cmocka_unit_test(a_stranger),
        cmocka_unit_test(a_flood_is_folded),
        cmocka_unit_test(a_flood_of_paths_is_bounded),
        cmocka_unit_test(what_is_not_understood_is_counted),
        cmocka_unit_test(its_walls),
        cmocka_unit_test(the_kernels_socket_is_locked),
    };
    int skip = without_root_skip("ear");

    return skip ? skip : cmocka_run_group_tests_name("ear", tests, make_empty, remove_empty);
}
