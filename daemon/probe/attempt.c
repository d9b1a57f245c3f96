#include "attempt.h"

#include "clock.h"
#include "descriptor.h"
#include "fault.h"
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void say(struct rung *ret, enum rung_state state, int error, int64_t value,
    const char *format, va_list args)
{
    *ret = (struct rung){.state = state, .error = error, .value = value};
    (void)vsnprintf(ret->detail, sizeof(ret->detail), format, args);
}

static void say_state(struct rung *ret, enum rung_state state, int error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void say_state(struct rung *ret, enum rung_state state, int error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(ret, state, error, 0, format, args);
    va_end(args);
}

void rung_holds(struct rung *ret, int64_t value, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(ret, RUNG_HOLDS, 0, value, format, args);
    va_end(args);
}

void rung_refused(struct rung *ret, int r, const char *call)
{
    rung_refused_or_absent(ret, r, ENOSYS, call);
}

void rung_refused_or_absent(struct rung *ret, int r, int absent, const char *call)
{
    enum rung_state state = -r == ENOSYS || -r == absent ? RUNG_ABSENT : RUNG_REFUSED;

    say_state(ret, state, -r, "%s: %s", call, fault_errno_name(-r));
}

void rung_broken(struct rung *ret, int r, const char *control)
{
    if (r < 0)
        say_state(ret, RUNG_BROKEN, -r, "control: %s: %s", control, fault_errno_name(-r));
    else
        say_state(ret, RUNG_BROKEN, 0, "control: %s", control);
}

void rung_breached(struct rung *ret, const char *act)
{
    say_state(ret, RUNG_REFUSED, 0, "not enforced: %s", act);
}

pid_t attempt_fork(void)
{
    pid_t parent = getpid(), pid = fork();

    if (pid != 0)
        return pid;
    /* Asked for first, then looked: a parent that ended in between is not our parent any more. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent)
        _exit(1);
    return 0;
}

static _Noreturn void child(measure_fn *measure, const struct bench *bench, int told)
{
    struct rung rung = {.state = RUNG_BROKEN};

    measure(bench, &rung);
    _exit(descriptor_write_all(told, &rung, sizeof(rung)) < 0);
}

/* -ETIME when the word does not come in time, -ENODATA when the child ends without one. */
static int hear(int told, struct rung *ret)
{
    uint64_t deadline = clock_monotonic_us() + ATTEMPT_DEADLINE_MS * 1000U;
    struct pollfd waiting = {.fd = told, .events = POLLIN};

    for (;;) {
        uint64_t now = clock_monotonic_us();
        int n;

        if (now >= deadline)
            return -ETIME;
        n = poll(&waiting, 1, (int)((deadline - now + 999) / 1000));
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            return descriptor_read_all(told, ret, sizeof(*ret)); /* one write: it comes whole */
    }
}

/* It is our child and not yet waited for, so the number is still its own.  One that hangs in the
 * kernel (a file system that does not answer) is not waited for: it ends when that lets go. */
static void bury(pid_t pid)
{
    auto_close int pidfd = (int)syscall(SYS_pidfd_open, pid, 0U);
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};

    (void)kill(pid, SIGKILL);
    if (pidfd >= 0 && poll(&ended, 1, ATTEMPT_DEADLINE_MS / 2) == 0)
        return;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

void attempt(measure_fn *measure, const struct bench *bench, struct rung *ret)
{
    auto_close int hears = -EBADF, tells = -EBADF;
    struct rung rung;
    int pair[2], r;
    pid_t pid;

    if (pipe2(pair, O_CLOEXEC) < 0) {
        rung_broken(ret, -errno, "pipe2");
        return;
    }
    hears = pair[0];
    tells = pair[1];
    pid = attempt_fork();
    if (pid < 0) {
        rung_broken(ret, -errno, "fork");
        return;
    }
    if (pid == 0)
        child(measure, bench, tells);
    close_fd(&tells);
    r = hear(hears, &rung);
    bury(pid);
    if (r < 0) {
        rung_broken(ret, r, r == -ETIME ? "no answer in time" : "the measurement ended");
        return;
    }
    rung.detail[sizeof(rung.detail) - 1] = '\0';
    *ret = rung;
}
