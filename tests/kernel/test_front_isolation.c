/* What the front gives up: each act that fails behind its walls beside the same act without them,
 * and the program itself, looked at from outside while it serves. */
#include "acts.h"
#include "enclosure.h"
#include "filters.h"
#include "frame.h"
#include "isolation.h"
#include "messages.h"
#include "saphan.pb-c.h"
#include "zygote_play.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#define NOBODY 65534

static char empty_path[] = "/tmp/saphan-front-XXXXXX";
static int empty = -EBADF;

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(empty_path))
        return -1;
    empty = open(empty_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return empty < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    close_fd(&empty);
    return rmdir(empty_path);
}

static bool act_many_descriptors(void)
{
    return act_have_descriptors(300);
}

static bool stage(bool walls)
{
    struct fault fault = {0};

    if (walls && (isolation_prepare(dup(empty), &fault) < 0 ||
                     enclosure_become(NOBODY, &filter_front, &fault) < 0)) {
        fprintf(stderr, "%u %s %d\n", fault.step, fault.subject, fault.error);
        return false;
    }
    return true;
}

static void test_each_act_is_done_without_and_not_with_the_walls(void **state)
{
    static const struct named_act acts[] = {{"open", act_open}, {"see", act_see},
        {"create", act_create}, {"socket", act_unix_socket}, {"fork", act_fork}, {"exec", act_exec},
        {"signal", act_signal_others}, {"become root", act_become_root},
        {"leave its root", act_leave_root}, {"many descriptors", act_many_descriptors}};

    (void)state;
    assert_walls_refuse(acts, array_size(acts), stage);
}

static bool act_nothing(void)
{
    return true;
}

/* A root that holds something is refused: the control is the same directory, empty. */
static void test_a_root_that_is_not_empty_is_refused(void **state)
{
    (void)state;
    assert_int_equal(act_verdict(act_nothing, stage, true), ACT_DONE);
    assert_int_equal(mkdirat(empty, "x", 0700), 0);
    assert_int_equal(act_verdict(act_nothing, stage, true), ACT_NO_STAGE);
    assert_int_equal(unlinkat(empty, "x", AT_REMOVEDIR), 0);
}

/* ---- the program ---- */

static void read_proc(pid_t pid, const char *name, char *out, size_t size)
{
    char path[64];
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    file = fopen(path, "re");
    assert_non_null(file);
    out[fread(out, 1, size - 1, file)] = '\0';
    (void)fclose(file);
}

static void await_readable(int fd)
{
    struct pollfd polled = {fd, POLLIN, 0};

    assert_int_equal(poll(&polled, 1, 20000), 1);
}

static void look_at(pid_t pid)
{
    static const char *const lines[] = {"Uid:\t65534\t65534\t65534\t65534\n",
        "Gid:\t65534\t65534\t65534\t65534\n", "Groups:\t \n", "CapInh:\t0000000000000000\n",
        "CapPrm:\t0000000000000000\n", "CapEff:\t0000000000000000\n", "CapBnd:\t0000000000000000\n",
        "CapAmb:\t0000000000000000\n", "NoNewPrivs:\t1\n", "Seccomp:\t2\n"};
    char status[8192], own[8192], path[64], root[256] = {0};

    read_proc(pid, "status", status, sizeof(status));
    read_proc(getpid(), "status", own, sizeof(own));
    for (size_t i = 0; i < array_size(lines); i++) {
        if (!strstr(status, lines[i]))
            fail_msg("no line %s", lines[i]);
    }
    assert_null(strstr(own, lines[5])); /* the control */
    assert_null(strstr(own, lines[0]));
    (void)snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
    assert_true(readlink(path, root, sizeof(root) - 1) > 0);
    assert_string_equal(root, empty_path);
    read_proc(pid, "environ", own, sizeof(own));
    assert_string_equal(own, "");
}

/* What the channel carries reaches the client as a frame, through all the walls. */
static void serve_one(int warden, int client)
{
    static const uint8_t list[] = {6, 0, 0, 0, 0x08, 1, 0x10, 9, 0x5a, 0};
    struct seam_end end = {4};
    struct seam_message message;
    struct seam_writer writer;
    Saphan__V1__ServerFrame *frame;
    uint8_t bytes[256];
    ssize_t n;

    assert_int_equal(send(client, list, sizeof(list), MSG_NOSIGNAL), sizeof(list));
    await_readable(warden);
    assert_int_equal(seam_receive(warden, &message), 0);
    assert_int_equal(message.header.type, SEAM_ASK_LEGS);
    seam_writer_init(&writer, SEAM_END, message.header.request);
    assert_int_equal(seam_send(warden, &writer, &end, NULL, 0), 0);
    seam_writer_done(&writer);
    seam_message_done(&message);
    await_readable(client);
    n = recv(client, bytes, sizeof(bytes), 0);
    assert_true(n > (ssize_t)FRAME_HEADER);
    frame = saphan__v1__server_frame__unpack(NULL, (size_t)n - FRAME_HEADER, bytes + FRAME_HEADER);
    assert_non_null(frame);
    assert_int_equal(frame->request, 9);
    assert_int_equal(frame->end->value, 4);
    saphan__v1__server_frame__free_unpacked(frame, NULL);
}

static void bear_front(const struct zygote_play *zygote, uint64_t uid, int *ret_seam, pid_t *ret)
{
    int seam[2], pidfd;

    assert_int_equal(seam_channel_pair(seam), 0);
    assert_int_equal(zygote_play_bear(zygote, 0, uid, seam[1], ret, &pidfd), 0);
    close(pidfd);
    close(seam[1]);
    *ret_seam = seam[0];
}

static void test_the_program_serves_behind_its_walls(void **state)
{
    struct seam_serve serve = {.uid = 1000};
    struct zygote_play zygote;
    struct seam_message message;
    struct seam_writer writer;
    int seam, stream[2], status;
    pid_t pid;

    (void)state;
    assert_int_equal(zygote_play_start("saphan-front", empty, &zygote), 0);
    bear_front(&zygote, NOBODY, &seam, &pid);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream), 0);
    seam_writer_init(&writer, SEAM_SERVE, 0);
    assert_int_equal(seam_send(seam, &writer, &serve, &stream[1], 1), 0);
    seam_writer_done(&writer);
    close(stream[1]);
    serve_one(seam, stream[0]);
    look_at(pid);
    close(stream[0]);
    await_readable(seam);
    assert_int_equal(seam_receive(seam, &message), 0);
    assert_int_equal(message.header.type, SEAM_CLIENT_GONE);
    seam_message_done(&message);
    close(seam);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(zygote_play_end(&zygote), 0);
}

/* The zygote can become anybody, and nothing else: the control is this very process. */
static void test_the_zygote_keeps_two_capabilities(void **state)
{
    static const char kept[] = "CapEff:\t00000000000000c0\n"; /* SETGID, SETUID */
    char status[8192], path[64], root[256] = {0};
    struct zygote_play zygote;
    pid_t pid;
    int seam;

    (void)state;
    assert_int_equal(zygote_play_start("saphan-front", empty, &zygote), 0);
    bear_front(&zygote, NOBODY, &seam, &pid); /* it stands: it answers */
    read_proc(zygote.pid, "status", status, sizeof(status));
    assert_non_null(strstr(status, kept));
    assert_non_null(strstr(status, "CapBnd:\t0000000000000000\n"));
    assert_non_null(strstr(status, "CapInh:\t0000000000000000\n"));
    read_proc(getpid(), "status", status, sizeof(status));
    assert_null(strstr(status, kept));
    (void)snprintf(path, sizeof(path), "/proc/%d/root", (int)zygote.pid);
    assert_true(readlink(path, root, sizeof(root) - 1) > 0);
    assert_string_equal(root, empty_path);
    close(seam);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(zygote_play_end(&zygote), 0);
}

static void test_a_front_ends_with_its_channel_and_outlives_its_zygote(void **state)
{
    struct zygote_play zygote;
    int first, second, status;
    pid_t pids[2];

    (void)state;
    assert_int_equal(zygote_play_start("saphan-front", empty, &zygote), 0);
    bear_front(&zygote, NOBODY, &first, &pids[0]);
    bear_front(&zygote, NOBODY - 1, &second, &pids[1]);
    close(first);
    assert_int_equal(waitpid(pids[0], &status, 0), pids[0]);
    assert_int_equal(status, 0);
    assert_int_equal(zygote_play_end(&zygote), 0);
    assert_int_equal(waitpid(pids[1], &status, WNOHANG), 0); /* the control: it still waits */
    close(second);
    assert_int_equal(waitpid(pids[1], &status, 0), pids[1]);
    assert_int_equal(status, 0);
}

static void test_a_front_is_never_root(void **state)
{
    static const uint64_t wrong[] = {0, UINT32_MAX, 1ULL << 32};
    struct zygote_play zygote;
    int seam, status;
    pid_t pid;

    (void)state;
    assert_int_equal(zygote_play_start("saphan-front", empty, &zygote), 0);
    for (size_t i = 0; i < array_size(wrong); i++) {
        bear_front(&zygote, wrong[i], &seam, &pid);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 1 << 8);
        close(seam);
    }
    assert_int_equal(zygote_play_end(&zygote), 0);
}

static void test_what_is_no_order_ends_the_zygote(void **state)
{
    struct zygote_play zygote;
    struct seam_writer writer;

    (void)state;
    assert_int_equal(zygote_play_start("saphan-front", empty, &zygote), 0);
    seam_writer_init(&writer, SEAM_GO, 0);
    assert_int_equal(seam_send(zygote.channel, &writer, &(struct seam_end){0}, NULL, 0), 0);
    seam_writer_done(&writer);
    await_readable(zygote.channel);
    assert_int_equal(zygote_play_end(&zygote), 1 << 8);
}

static void test_a_birth_that_fails_is_told_and_the_next_one_succeeds(void **state)
{
    struct zygote_play zygote;
    int seam[2], pidfd, next;
    pid_t pid;

    (void)state;
    assert_int_equal(zygote_play_start("saphan-front", empty, &zygote), 0);
    assert_int_equal(seam_channel_pair(seam), 0);
    assert_int_equal(zygote_play_bear(&zygote, CLONE_NEWNET, NOBODY, seam[1], &pid, &pidfd), EPERM);
    close(seam[0]);
    close(seam[1]);
    bear_front(&zygote, NOBODY, &next, &pid);
    close(next);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(zygote_play_end(&zygote), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_act_is_done_without_and_not_with_the_walls),
        cmocka_unit_test(test_a_root_that_is_not_empty_is_refused),
        cmocka_unit_test(test_the_program_serves_behind_its_walls),
        cmocka_unit_test(test_the_zygote_keeps_two_capabilities),
        cmocka_unit_test(test_a_front_ends_with_its_channel_and_outlives_its_zygote),
        cmocka_unit_test(test_a_front_is_never_root),
        cmocka_unit_test(test_what_is_no_order_ends_the_zygote),
        cmocka_unit_test(test_a_birth_that_fails_is_told_and_the_next_one_succeeds),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
