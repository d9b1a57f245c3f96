#include "measures.h"

#include "inside.h"
#include "own.h"
#include "path.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

void measure_rlimit_nproc(const struct bench *bench, struct rung *ret)
{
    int r = inside_ask(bench, CLONE_NEWPID, -EBADF, "process-limit", "", ret);

    if (r < 0)
        rung_broken(ret, r, "a child in user and pid namespaces");
}

/* Signals CHILD and waits for it, by pidfd alone. */
static void hold_by_pidfd(const struct bench *bench, pid_t child, struct rung *ret)
{
    auto_close int pidfd = (int)syscall(SYS_pidfd_open, child, 0);
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    siginfo_t info = {0};

    (void)bench;
    if (pidfd < 0) {
        rung_refused(ret, -errno, "pidfd_open");
        return;
    }
    if (poll(&end, 1, 0) != 0) {
        rung_broken(ret, 0, "the child ended before it was told to");
        return;
    }
    if (syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) < 0)
        rung_refused(ret, -errno, "pidfd_send_signal");
    else if (poll(&end, 1, ATTEMPT_WAIT_MS) != 1)
        rung_breached(ret, "a pidfd does not tell the end of its process");
    else if (waitid((idtype_t)P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0)
        rung_refused_or_absent(ret, -errno, EINVAL, "waitid(P_PIDFD)");
    else if (info.si_pid != child || info.si_code != CLD_KILLED)
        rung_breached(ret, "waitid(P_PIDFD) told of another end");
    else
        rung_holds(ret, 0, "a child was signalled, seen to end and reaped by pidfd");
}

void measure_pidfd(const struct bench *bench, struct rung *ret)
{
    pid_t child = attempt_fork();

    if (child < 0) {
        rung_broken(ret, -errno, "fork");
        return;
    }
    if (child == 0) {
        for (;;)
            (void)pause();
    }
    hold_by_pidfd(bench, child, ret);
    (void)kill(child, SIGKILL);
}

/* Each way out that is closed, with the same path let through beside it. */
static const struct {
    const char *path;
    unsigned int resolve;
    int refusal;
    const char *what;
} ways_out[] = {
    {"/proc/self/fd/0", 0, -ELOOP, "a magic link was followed"},
    {"/proc/self/exe", PATH_NO_SYMLINKS, -ELOOP, "a symlink was followed"},
    {"..", PATH_BENEATH, -EXDEV, "a path led out of its directory"},
};

void measure_openat2(const struct bench *bench, struct rung *ret)
{
    (void)bench;
    for (size_t i = 0; i < array_size(ways_out); i++) {
        auto_close int control = -EBADF, tried = -EBADF;

        control = openat(AT_FDCWD, ways_out[i].path, O_PATH | O_CLOEXEC);
        if (control < 0) {
            rung_broken(ret, -errno, ways_out[i].path);
            return;
        }
        tried = path_open(AT_FDCWD, ways_out[i].path, O_PATH, ways_out[i].resolve);
        if (tried >= 0) {
            rung_breached(ret, ways_out[i].what);
            return;
        }
        if (tried != ways_out[i].refusal) {
            rung_refused(ret, tried, "openat2");
            return;
        }
    }
    rung_holds(ret, 0, "a magic link, a symlink and a way out were refused");
}
