/* strangers.c - what another uid is to the kernel, and what we are ourselves. */
#include "measures.h"

#include "descriptor.h"
#include "first_namespace.h"
#include "identity.h"
#include "inside.h"
#include "landlock.h"
#include "own.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Two ids that are nobody's, just below the first range that a leg can have. */
#define ONE (PROBE_ID_BASE + 1)
#define OTHER (PROBE_ID_BASE + 2)
#define STATUS_MAX 65536

/* ---- separate-uid ---- */

static int become(uid_t uid)
{
    const struct identity identity = {.uid = uid, .gid = uid};

    return identity_give_up(&identity);
}

/* Whether uid AS can signal PID: 0, -errno, or -ECHILD when nobody could say. */
static int signal_as(uid_t as, pid_t pid)
{
    int status;
    pid_t child = attempt_fork();

    if (child < 0)
        return -ECHILD;
    if (child == 0) {
        if (become(as) < 0)
            _exit(ECHILD);
        _exit(kill(pid, 0) < 0 ? errno : 0);
    }
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return -ECHILD;
    }
    return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

/* A process of uid ONE that says when it is one, and ends with us. */
static pid_t start_stranger(void)
{
    int pair[2];
    char byte;
    pid_t pid;

    if (pipe2(pair, O_CLOEXEC) < 0)
        return -errno;
    pid = attempt_fork();
    if (pid == 0) {
        close(pair[0]);
        if (become(ONE) < 0 || write(pair[1], "", 1) != 1)
            _exit(1);
        for (;;)
            (void)pause();
    }
    close(pair[1]);
    if (pid > 0 && read(pair[0], &byte, 1) != 1) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        pid = -ECHILD;
    }
    close(pair[0]);
    return pid;
}

void measure_separate_uid(const struct bench *bench, struct rung *ret)
{
    pid_t stranger = start_stranger();
    int own, other;

    (void)bench;
    if (stranger < 0) {
        rung_broken(ret, stranger, "a process of another uid");
        return;
    }
    own = signal_as(ONE, stranger);
    other = signal_as(OTHER, stranger);
    (void)kill(stranger, SIGKILL);
    (void)waitpid(stranger, NULL, 0);
    if (own < 0)
        rung_broken(ret, own, "a signal from the same uid");
    else if (other == 0)
        rung_breached(ret, "a signal from another uid");
    else if (other != -EPERM)
        rung_refused(ret, other, "a signal from another uid");
    else
        rung_holds(ret, 0, "a signal from another uid got EPERM; from its own it goes");
}

/* ---- unenclosed ---- */

static bool is_status(const char *status, const char *line)
{
    return strstr(status, line) != NULL;
}

/* What another wall than those that are looked for would refuse to root. */
static int try_to_mount(void)
{
    if (unshare(CLONE_NEWNS) < 0)
        return -errno;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ? -errno : 0;
}

/* A kernel without Landlock has no domain to be in. */
static int count_domains(void)
{
    int r = identity_no_new_privs();

    if (r == 0)
        r = landlock_layers();
    return r == -ENOSYS || r == -EOPNOTSUPP ? 0 : r;
}

static void refuse(struct rung *ret, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void refuse(struct rung *ret, int error, const char *format, ...)
{
    va_list args;

    *ret = (struct rung){.state = RUNG_REFUSED, .error = error};
    va_start(args, format);
    (void)vsnprintf(ret->detail, sizeof(ret->detail), format, args);
    va_end(args);
}

void measure_unenclosed(const struct bench *bench, struct rung *ret)
{
    auto_free char *status = NULL;
    const char *namespace;
    int found = first_namespace_left(&namespace), mounted = try_to_mount(), domains, r;

    (void)bench;
    r = descriptor_read_file(AT_FDCWD, "/proc/self/status", STATUS_MAX, &status);
    domains = count_domains(); /* last: it shuts this process in */
    if (found < 0)
        rung_broken(ret, found, "/proc/self/ns");
    else if (r < 0)
        rung_broken(ret, r, "/proc/self/status");
    else if (namespace)
        refuse(ret, 0, "saphand is in a container: %s is not the one the kernel began with",
            namespace);
    else if (domains > 0)
        refuse(ret, 0, "saphand is in a Landlock domain: %d of the 16 layers are taken", domains);
    else if (mounted == -EPERM)
        refuse(ret, EPERM, "saphand is in a domain of somebody's: mount: EPERM");
    else if (!is_status(status, "Seccomp:\t0\n") || !is_status(status, "NoNewPrivs:\t0\n"))
        refuse(ret, 0, "saphand is under a seccomp filter or no_new_privs");
    else if (domains < 0 || mounted < 0)
        rung_broken(ret, domains < 0 ? domains : mounted,
            domains < 0 ? "counting Landlock layers" : "mount in a namespace of its own");
    else
        rung_holds(
            ret, 0, "the first user and pid namespace, no Landlock layer, no filter, mount goes");
    ret->value = domains > 0 ? domains : 0;
}
