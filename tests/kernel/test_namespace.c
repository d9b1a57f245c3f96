/* Processes in fresh namespaces: their ids, their descriptors, their end with their parent. */
#include "namespace.h"
#include "own.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define NAMESPACES (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET)
#define ID_BASE 0x7d000000U

/* Runs sh -c SCRIPT there, its descriptor 3 being ours at the other end; 0 or -errno. */
static int spawn(
    const char *program_path, const char *script, struct namespace_child *ret, int *ret_channel)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    const char *const envp[] = {"PATH=/usr/bin:/bin", NULL};
    auto_close int program = -EBADF, null = -EBADF, theirs = -EBADF;
    int pair[2], r;

    program = open(program_path, O_PATH | O_CLOEXEC);
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_true(program >= 0 && null >= 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    theirs = pair[1];
    r = namespace_spawn(&(struct namespace_spawn){.namespaces = NAMESPACES,
                            .id_base = ID_BASE,
                            .cgroup = -EBADF,
                            .program = program,
                            .argv = argv,
                            .envp = envp,
                            .channel = theirs,
                            .null = null},
        ret);
    if (r < 0)
        close(pair[0]);
    else
        *ret_channel = pair[0];
    return r;
}

static int wait_for(struct namespace_child *child)
{
    siginfo_t info = {0};

    assert_int_equal(waitid((idtype_t)P_PIDFD, (id_t)child->pidfd, &info, WEXITED), 0);
    close(child->pidfd);
    close(child->user_namespace);
    return info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
}

static void test_born(void **state)
{
    struct namespace_child child;
    char said[4096] = {0};
    size_t filled = 0;
    int channel;
    ssize_t n;

    assert_int_equal(spawn("/bin/sh",
                         "cat /proc/self/uid_map /proc/self/gid_map >&3; "
                         "grep -E '^(Uid|Groups|CapEff|SigIgn|SigBlk)' "
                         "/proc/self/status >&3; echo pid $$ >&3; exit 7",
                         &child, &channel),
        0);
    while ((n = read(channel, said + filled, sizeof(said) - 1 - filled)) > 0)
        filled += (size_t)n;
    close(channel);
    assert_int_equal(wait_for(&child), 7);
    assert_non_null(strstr(said, "         0 2097152000      65536\n"));
    assert_non_null(strstr(said, "Uid:\t0\t0\t0\t0\nGroups:\t \n"));
    assert_non_null(strstr(said, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"));
    assert_null(strstr(said, "CapEff:\t0000000000000000"));
    assert_non_null(strstr(said, "pid 1\n"));
}

static void test_what_cannot_be_executed(void **state)
{
    struct namespace_child child;
    int channel;

    assert_int_equal(spawn("/etc/passwd", "", &child, &channel), -EACCES);
    assert_int_equal(spawn("/", "", &child, &channel), -EACCES);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nothing is left */
    assert_int_equal(errno, ECHILD);
}

/* The parent dies at once; what it spawned must, too: the channel's other end closes. */
static void test_dies_with_its_parent(void **state)
{
    struct pollfd gone;
    int pair[2];
    char byte;
    pid_t parent;

    assert_int_equal(pipe(pair), 0);
    parent = fork();
    assert_true(parent >= 0);
    if (parent == 0) {
        struct namespace_child child;
        const char *const argv[] = {
            "sh", "-c", "echo >&3; trap '' TERM; while :; do sleep 9; done", NULL};
        const char *const envp[] = {NULL};
        int program = open("/bin/sh", O_PATH | O_CLOEXEC), null = open("/dev/null", O_RDWR);
        int r = namespace_spawn(&(struct namespace_spawn){.namespaces = NAMESPACES,
                                    .id_base = ID_BASE,
                                    .cgroup = -EBADF,
                                    .program = program,
                                    .argv = argv,
                                    .envp = envp,
                                    .channel = pair[1],
                                    .null = null},
            &child);

        close(pair[1]);
        _exit(r == 0 && read(pair[0], &byte, 1) == 1 ? 0 : 1); /* it runs: now we are gone */
    }
    close(pair[1]);
    assert_int_equal(waitpid(parent, &(int){0}, 0), parent);
    gone = (struct pollfd){.fd = pair[0], .events = POLLIN};
    assert_int_equal(poll(&gone, 1, 10000), 1);
    assert_int_equal(read(pair[0], &byte, 1), 0);
    close(pair[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_born),
        cmocka_unit_test(test_what_cannot_be_executed),
        cmocka_unit_test(test_dies_with_its_parent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
