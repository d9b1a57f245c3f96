#include "namespace.h"

#include "descriptor.h"
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define ID_COUNT 65536U
#define CHILD_CHANNEL 3
#define CHILD_SPARE 64 /* where the child parks descriptors while it lays out 0 to 3 */

/* What the child needs: two pipes beside the caller's wishes. */
struct birth {
    const struct namespace_spawn *spawn;
    int mapped; /* read end: one byte once the ids are mapped; hung up: the parent is gone */
    int status; /* write end, closed by a good exec: the errno of what failed */
};

static int child_signals(void)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t none;

    /* exec resets handlers by itself, but what the daemon ignores would stay ignored. */
    for (int number = 1; number < NSIG; number++) {
        if (number == SIGKILL || number == SIGSTOP || number == 32 || number == 33)
            continue;
        if (sigaction(number, &standard, NULL) < 0)
            return -errno;
    }
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL) < 0 ? -errno : 0;
}

/* Parks what must live above the places to be filled, so that no order of numbers can clash. */
static int child_descriptors(const struct birth *birth, int *ret_program, int *ret_status)
{
    int null = fcntl(birth->spawn->null, F_DUPFD_CLOEXEC, CHILD_SPARE);
    int channel = fcntl(birth->spawn->channel, F_DUPFD_CLOEXEC, CHILD_SPARE);
    int program = fcntl(birth->spawn->program, F_DUPFD_CLOEXEC, CHILD_SPARE);
    int status = fcntl(birth->status, F_DUPFD_CLOEXEC, CHILD_SPARE);

    if (null < 0 || channel < 0 || program < 0 || status < 0)
        return -errno;
    *ret_program = program;
    *ret_status = status;
    for (int fd = 0; fd < CHILD_CHANNEL; fd++) {
        if (dup2(null, fd) < 0)
            return -errno;
    }
    if (dup2(channel, CHILD_CHANNEL) < 0)
        return -errno;
    return close_range(CHILD_CHANNEL + 1, ~0U, CLOSE_RANGE_CLOEXEC) < 0 ? -errno : 0;
}

/* The child is still the host's root by number, only without a right to it; now it becomes the
 * leg's own root.  That clears PR_SET_PDEATHSIG, so the signal is asked for afterwards. */
static int child_identity(void)
{
    if (setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
        return -errno;
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ? -errno : 0;
}

static int child_wait(int mapped)
{
    char byte;
    ssize_t n = read(mapped, &byte, 1);

    return n < 0 ? -errno : n == 0 ? -ECANCELED : 0;
}

/* A parent that died before PR_SET_PDEATHSIG was set is seen by its closed end of the pipe. */
static int child_has_parent(int mapped)
{
    struct pollfd wait = {.fd = mapped, .events = POLLIN};

    if (poll(&wait, 1, 0) < 0)
        return -errno;
    return wait.revents ? -ECANCELED : 0;
}

static int child_exec(const struct birth *birth, int *ret_status)
{
    const struct namespace_spawn *spawn = birth->spawn;
    int program = -EBADF, r;

    r = child_wait(birth->mapped);
    if (r == 0)
        r = child_identity();
    if (r == 0)
        r = child_has_parent(birth->mapped);
    if (r == 0)
        r = child_descriptors(birth, &program, ret_status);
    if (r == 0)
        r = child_signals();
    if (r < 0)
        return r;
    (void)syscall(SYS_execveat, program, "", spawn->argv, spawn->envp, AT_EMPTY_PATH);
    return -errno;
}

static _Noreturn void child_main(const struct birth *birth)
{
    int status = birth->status;
    int r = child_exec(birth, &status);
    ssize_t n = write(status, &r, sizeof(r));

    _exit(n == (ssize_t)sizeof(r) ? 1 : 2);
}

static int map_ids(int proc, uint32_t base)
{
    char line[64];
    int r;

    (void)snprintf(line, sizeof(line), "0 %" PRIu32 " %u\n", base, ID_COUNT);
    r = descriptor_write_knob(proc, "uid_map", line);
    return r < 0 ? r : descriptor_write_knob(proc, "gid_map", line);
}

int namespace_map_ids(pid_t pid, uint32_t base, int *ret_user_namespace)
{
    auto_close int proc = -EBADF;
    char path[32];
    int r, user_namespace;

    (void)snprintf(path, sizeof(path), "/proc/%d", pid);
    proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0)
        return -errno;
    r = map_ids(proc, base);
    if (r < 0)
        return r;
    user_namespace = openat(proc, "ns/user", O_RDONLY | O_CLOEXEC);
    if (user_namespace < 0)
        return -errno;
    *ret_user_namespace = user_namespace;
    return 0;
}

/* The parent's half: maps, keeps the user namespace, lets the child go and hears how exec went. */
static int attend(pid_t pid, uint32_t base, int go, int status, int *ret_user_namespace)
{
    auto_close int user_namespace = -EBADF;
    int r, failure;

    r = namespace_map_ids(pid, base, &user_namespace);
    if (r == 0)
        r = descriptor_write_all(go, "", 1);
    if (r < 0)
        return r;
    r = descriptor_read_all(status, &failure, sizeof(failure));
    if (r == -ENODATA) { /* closed by exec */
        *ret_user_namespace = steal_fd(&user_namespace);
        return 0;
    }
    return r < 0 ? r : failure;
}

static void bury(int pidfd)
{
    siginfo_t info;

    (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    while (waitid((idtype_t)P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0 && errno == EINTR)
        continue;
}

/* clone3 without CLONE_VM: the child has a copy, so nothing it does can reach the parent. */
static pid_t clone_child(uint64_t flags, uint64_t exit_signal, int cgroup, int *ret_pidfd)
{
    struct clone_args args = {
        .flags = flags | CLONE_PIDFD,
        .pidfd = (uint64_t)(uintptr_t)ret_pidfd,
        .exit_signal = exit_signal,
    };

    if (cgroup >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (unsigned int)cgroup;
    }
    return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* clone(2) does where no cgroup is asked for: a kernel or a filter that lacks clone3 still lets a
 * process be copied, and what then cannot be had is refused by a process that is there. */
static pid_t clone_sibling(uint64_t namespaces, int cgroup, int *ret_pidfd)
{
    const uint64_t flags = namespaces | CLONE_PARENT;

    if (cgroup >= 0)
        return clone_child(flags, 0, cgroup, ret_pidfd);
    return (pid_t)syscall(SYS_clone, flags | CLONE_PIDFD, NULL, ret_pidfd, NULL, 0);
}

int namespace_fork_sibling(uint64_t namespaces, int cgroup, pid_t *ret_pid, int *ret_pidfd)
{
    int pidfd = -EBADF;
    pid_t pid = clone_sibling(namespaces, cgroup, &pidfd);

    if (pid < 0)
        return -errno;
    *ret_pid = pid;
    *ret_pidfd = pid == 0 ? -EBADF : pidfd;
    return 0;
}

int namespace_become_root(void)
{
    return child_identity();
}

int namespace_spawn(const struct namespace_spawn *spawn, struct namespace_child *ret)
{
    auto_close int mapped = -EBADF, go = -EBADF, status = -EBADF, told = -EBADF, pidfd = -EBADF;
    int go_pipe[2], status_pipe[2], user_namespace = -EBADF, r, error;
    sigset_t all, before;
    pid_t pid;

    if (pipe2(go_pipe, O_CLOEXEC) < 0)
        return -errno;
    mapped = go_pipe[0];
    go = go_pipe[1];
    if (pipe2(status_pipe, O_CLOEXEC) < 0)
        return -errno;
    told = status_pipe[0];
    status = status_pipe[1];

    /* No handler of the daemon may run in the child. */
    sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    pid = clone_child(spawn->namespaces, SIGCHLD, spawn->cgroup, &pidfd);
    error = errno;
    if (pid == 0) {
        close(go); /* else the child would keep its own wait open */
        child_main(&(struct birth){.spawn = spawn, .mapped = mapped, .status = status});
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    if (pid < 0)
        return -error;
    close_fd(&mapped);
    close_fd(&status);

    r = attend(pid, spawn->id_base, go, told, &user_namespace);
    if (r < 0) {
        bury(pidfd);
        return r;
    }
    ret->pid = pid;
    ret->user_namespace = user_namespace;
    ret->pidfd = steal_fd(&pidfd);
    return 0;
}
