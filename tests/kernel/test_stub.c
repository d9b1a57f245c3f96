/* The stub: how a leg starts, ends, and is told of. */
#include "plot.h"

#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

static void test_exit_statuses(void **state)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);
    char script[32];

    for (int status = 0; status < 256; status++) {
        (void)snprintf(script, sizeof(script), "exit %d", status);
        expect_status(&play, script, status);
    }
}

static void test_fatal_signals(void **state)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL,
        SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGXCPU, SIGSYS, 34, 64};
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);
    char script[32];

    for (size_t i = 0; i < array_size(signals); i++) {
        (void)snprintf(script, sizeof(script), "kill -%d $$", signals[i]);
        expect_status(&play, script, -signals[i]);
        assert_false(WCOREDUMP(last.wait_status));
    }
}

static void test_exec_failures(void **state)
{
    const char *argv[] = {NULL, NULL};
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);
    char path[256];
    static const struct {
        const char *file;
        mode_t mode;
        int error;
    } files[] = {{"plain", 0644, EACCES}, {"text", 0755, ENOEXEC}, {"directory", 0, EACCES},
        {"absent", 0, ENOENT}};

    plot_file(&plot, "plain", "#!/bin/sh\n", SOMEONE);
    plot_file(&plot, "text", "no program\n", SOMEONE);
    plot_directory(&plot, "directory", SOMEONE);
    play.argv = argv;
    for (size_t i = 0; i < array_size(files); i++) {
        strcpy(path, plot_path(&plot, files[i].file));
        if (files[i].mode)
            assert_int_equal(chmod(path, files[i].mode), 0);
        argv[0] = path;
        expect_failure(&play, STEP_EXEC, files[i].error);
        assert_string_equal(last.fault.subject, path);
        assert_true(last.ready);
    }
    argv[0] = "there-is-no-such-program";
    expect_failure(&play, STEP_EXEC, ENOENT);
    argv[0] = ""; /* what execvp(3) says of it */
    expect_failure(&play, STEP_EXEC, ENOENT);
    argv[0] = "true";
    expect_status(&play, NULL, 0);
}

static void test_orphans_do_not_change_the_status(void **state)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);

    expect_status(&play, "(setsid sh -c 'exit 9' &); sleep 0.1; exit 3", 3);
    expect_status(&play, "(setsid sh -c 'sleep 300; exit 9' &); exit 4", 4);
    expect_status(&play, "(sh -c 'kill -9 $$' &); sleep 0.1; exit 0", 0);
    /* They are reaped: nothing is left behind in the leg either. */
    expect_output(&play,
        "i=0; while test $i -lt 50; do (true & ) ; i=$((i + 1)); done; sleep 0.2; "
        "grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l",
        0, "0\n");
}

static void test_times_are_told(void **state)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);

    expect_status(&play, "i=0; while test $i -lt 100000; do i=$((i + 1)); done", 0);
    assert_true(last.end.cpu_us > 1000);
    assert_true(last.end.max_rss_bytes > 100000);
    assert_int_equal(last.end.output_exceeded, 0);
}

static void test_kept_output(void **state)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);

    play.stdout_mode = STREAM_KEEP;
    play.limits.output = 1000;
    expect_status(&play, "echo hello; exit 5", 5);
    assert_int_equal(last.end.kept[0], 6);
    assert_memory_equal(last.kept, "hello\n", 6);
    expect_status(&play, "seq 10000", 0); /* its head and its tail */
    assert_int_equal(last.end.kept[0], 48894);
    assert_int_equal(last.kept_size, 1000);
    assert_memory_equal(last.kept, "1\n2\n3\n", 6);
    assert_memory_equal(last.kept + 1000 - 6, "10000\n", 6);
    assert_int_equal(last.end.output_exceeded, 0);
    /* An orphan that holds the stream keeps nobody waiting. */
    expect_status(&play, "(setsid sleep 300 &); exit 6", 6);
}

static void test_streams_are_checked(void **state)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);
    int pair[2];
    const struct {
        int fd, error;
    } bad[] = {
        {open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), EISDIR},
        {open("/etc/passwd", O_PATH | O_CLOEXEC), EBADF},
        {posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), ENOTTY},
        {socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), EPROTONOSUPPORT},
    };

    for (size_t i = 0; i < array_size(bad); i++) {
        assert_true(bad[i].fd > 0);
        play.stdin_fd = bad[i].fd;
        expect_failure(&play, STEP_STDIO, bad[i].error);
        assert_string_equal(last.fault.subject, "stdin");
        close(bad[i].fd);
    }
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(write(pair[1], "said", 4), 4);
    close(pair[1]);
    play.stdin_fd = pair[0];
    expect_output(&play, "cat", 0, "said");
    close(pair[0]);
}

static void test_limits(void **state)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);
    const char *forks = "i=0; while test $i -lt 30; do sleep 5 & i=$((i + 1)); done; exit 7";

    expect_status(&play, forks, 7);
    play.limits.tasks = 12;
    play.limits.files = 40;
    expect_output(&play, forks, FAILS, "fork");
    expect_status(&play, "test $(ulimit -n) = 40 && ! ulimit -n 41", 0);
    play.limits.files = 1ULL << 40; /* above the machine's own, which holds */
    expect_status(&play, "test $(ulimit -n) -gt 40 && ! ulimit -n $(($(ulimit -n) + 1))", 0);
}

static void test_a_step_that_fails_is_named(void **state)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);

    play.directory = "/not/there";
    expect_failure(&play, STEP_DIRECTORY, ENOENT);
    assert_string_equal(last.fault.subject, "/not/there");
    assert_false(last.ready);
    play = plot_play(&plot, "", PLAN_MOUNT_WRITE);
    play.mounts[1] =
        (struct play_mount){.path = "/usr", .target = "/usr/not-there", .kind = PLAN_MOUNT_READ};
    expect_failure(&play, STEP_MOUNTS, ENOENT); /* never made in what is not the leg's own */
    assert_string_equal(last.fault.subject, "/usr/not-there");
    assert_int_equal(access("/usr/not-there", F_OK), -1);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_exit_statuses),
        CASE(test_fatal_signals),
        CASE(test_exec_failures),
        CASE(test_orphans_do_not_change_the_status),
        CASE(test_times_are_told),
        CASE(test_kept_output),
        CASE(test_streams_are_checked),
        CASE(test_limits),
        CASE(test_a_step_that_fails_is_named),
    };

    /* As whoever starts a daemon may have it (nohup(1)): a leg has it otherwise. */
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
