/* started.h - one of our small programs, started as the warden starts it: an empty environment, its
 * channel as descriptor 3, and nothing else of the test's. */
#pragma once

#include "channel.h"
#include "descriptor.h"
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

#define ANSWER_MS 30000

struct started {
    pid_t pid;
    int channel;
};

/* The built PROGRAM stands in the build tree's daemon/, beside which this test was built. */
static inline void started_path(const char *program, char *ret_path, size_t size)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    assert_true(n > 0);
    self[n] = '\0';
    for (int up = 0; up < 3; up++)
        *strrchr(self, '/') = '\0';
    assert_true(snprintf(ret_path, size, "%s/daemon/%s", self, program) < (int)size);
}

/* A changed world for the programs that are started next: the kernel answers CALL with -ERROR.
 * ENOSYS is an older kernel; 0 is a call that says it did, and did not. */
struct started_world {
    int call;
    int error;
};
static const struct started_world started_world_as_it_is = {-1, 0};
static struct started_world started_world = {-1, 0};

static inline int started_change_world(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)started_world.call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)started_world.error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {array_size(code), code};

    if (started_world.call < 0)
        return 0;
    /* As root: no_new_privs would change what is to be looked at. */
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? -errno : 0;
}

/* FOURTH and FIFTH become descriptors 4 and 5 unless they are -EBADF. */
static inline struct started start_with_both(
    const char *program, char *const *argv, int fourth, int fifth)
{
    char *const envp[] = {NULL};
    const int passed[] = {fourth, fifth};
    struct started started;
    char path[4200];
    int pair[2];

    started_path(program, path, sizeof(path));
    assert_int_equal(seam_channel_pair(pair), 0);
    started.pid = fork();
    assert_true(started.pid >= 0);
    if (started.pid == 0) {
        int above[] = {fcntl(pair[1], F_DUPFD_CLOEXEC, 10), -1, -1};
        int count = 1;

        for (size_t i = 0; i < array_size(passed) && passed[i] >= 0; i++)
            above[count++] = fcntl(passed[i], F_DUPFD_CLOEXEC, 10);
        for (int i = 0; i < count; i++) {
            if (dup2(above[i], 3 + i) != 3 + i)
                _exit(126);
        }
        if (descriptor_close_from(3 + count, NULL, 0) == 0 && started_change_world() == 0)
            (void)execve(path, argv, envp);
        _exit(126);
    }
    close(pair[1]);
    started.channel = pair[0];
    return started;
}

static inline struct started start_with(const char *program, char *const *argv, int fourth)
{
    return start_with_both(program, argv, fourth, -EBADF);
}

/* The next message within ANSWER_MS, which must be of TYPE. */
static inline struct seam_message started_hear(const struct started *started, uint16_t type)
{
    struct pollfd waiting = {.fd = started->channel, .events = POLLIN};
    struct seam_message message;

    assert_int_equal(poll(&waiting, 1, ANSWER_MS), 1);
    assert_int_equal(seam_receive(started->channel, &message), 0);
    assert_int_equal(message.header.type, type);
    return message;
}

static inline int started_wait(struct started *started)
{
    int status;

    while (waitpid(started->pid, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    started->pid = -1;
    return status;
}

/* Closes the channel; the wait status. */
static inline int started_end(struct started *started)
{
    close_fd(&started->channel);
    return started_wait(started);
}

/* The line of /proc/PID/status that begins with NAME; without it. */
static inline void status_line(pid_t pid, const char *name, char *ret, size_t size)
{
    char path[64];
    char *text = NULL, *at;

    (void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
    assert_int_equal(descriptor_read_file(AT_FDCWD, path, 65536, &text), 0);
    at = strstr(text, name);
    assert_non_null(at);
    at += strlen(name);
    at += strspn(at, ":\t ");
    (void)snprintf(ret, size, "%.*s", (int)strcspn(at, "\n"), at);
    for (size_t n = strlen(ret); n > 0 && ret[n - 1] == ' '; n--)
        ret[n - 1] = '\0';
    free(text);
}

static inline void assert_status(pid_t pid, const char *name, const char *wanted)
{
    char line[256];

    status_line(pid, name, line, sizeof(line));
    assert_string_equal(line, wanted);
}

/* The soft limit NAME ("Max cpu time") of PID. */
static inline void assert_limit(pid_t pid, const char *name, const char *wanted)
{
    char path[64], value[32] = "";
    char *text = NULL, *at;

    (void)snprintf(path, sizeof(path), "/proc/%d/limits", pid);
    assert_int_equal(descriptor_read_file(AT_FDCWD, path, 65536, &text), 0);
    at = strstr(text, name);
    assert_non_null(at);
    assert_int_equal(sscanf(at + strlen(name), "%31s", value), 1);
    assert_string_equal(value, wanted);
    free(text);
}

/* Where a skip is a failure. */
static inline bool must_run(void)
{
    const char *value = getenv("SAPHAN_MUST_RUN");

    return value && strcmp(value, "1") == 0;
}

/* Kernel tests make other identities: without root there is nothing to look at.  An exit status. */
static inline int without_root_skip(const char *test)
{
    if (geteuid() == 0)
        return 0;
    printf("%s: needs root\n", test);
    return must_run() ? 1 : 77;
}
