#include "measures.h"

#include "inside.h"
#include "own.h"
#include "text.h"
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>

/* The control of the user namespace: the same program starts without any namespace. */
static int start_plainly(const struct bench *bench)
{
    char *const argv[] = {(char *)"saphan-probe", (char *)"--version", NULL};
    char *const envp[] = {NULL};
    int status;
    pid_t pid = attempt_fork();

    if (pid < 0)
        return -errno;
    if (pid == 0) {
        if (dup2(bench->null, STDOUT_FILENO) >= 0)
            (void)fexecve(bench->program, argv, envp);
        _exit(1);
    }
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return -errno;
    }
    return status == 0 ? 0 : -ENOEXEC;
}

void measure_userns(const struct bench *bench, struct rung *ret)
{
    int r, control;

    control = start_plainly(bench);
    if (control < 0) {
        rung_broken(ret, control, "starting the probe again without a namespace");
        return;
    }
    r = inside_ask(bench, 0, -EBADF, "user", "", ret);
    if (r < 0)
        rung_refused_or_absent(ret, r, EINVAL, "a child in a user namespace with an id map");
}

/* KIND as in /proc/self/ns.  The control is the same child in a user namespace alone. */
static void measure_kind(
    const struct bench *bench, const char *kind, uint64_t flag, const char *role, struct rung *ret)
{
    char path[32], name[64], what[64];
    struct rung control;
    ssize_t n;
    int r;

    (void)snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
    n = readlink(path, name, sizeof(name) - 1);
    if (n < 0) {
        rung_refused_or_absent(ret, -errno, ENOENT, path);
        return;
    }
    name[n] = '\0';
    r = inside_ask(bench, flag, -EBADF, role, name, ret);
    if (r == 0)
        return;
    (void)snprintf(what, sizeof(what), "a child in a new %s namespace", kind);
    rung_refused_or_absent(ret, r, EINVAL, what);
    r = inside_ask(bench, 0, -EBADF, "user", "", &control);
    if (r < 0)
        rung_broken(ret, r, "a child in a user namespace alone");
}

void measure_mountns(const struct bench *bench, struct rung *ret)
{
    measure_kind(bench, "mnt", CLONE_NEWNS, "namespace", ret);
}

void measure_pidns(const struct bench *bench, struct rung *ret)
{
    measure_kind(bench, "pid", CLONE_NEWPID, "pid", ret);
}

void measure_netns(const struct bench *bench, struct rung *ret)
{
    measure_kind(bench, "net", CLONE_NEWNET, "net", ret);
}

void measure_ipcns(const struct bench *bench, struct rung *ret)
{
    measure_kind(bench, "ipc", CLONE_NEWIPC, "namespace", ret);
}

void measure_utsns(const struct bench *bench, struct rung *ret)
{
    measure_kind(bench, "uts", CLONE_NEWUTS, "namespace", ret);
}

void measure_cgroupns(const struct bench *bench, struct rung *ret)
{
    measure_kind(bench, "cgroup", CLONE_NEWCGROUP, "namespace", ret);
}
