#include "inside.h"

#include "descriptor.h"
#include "own.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

int inside_start(const struct bench *bench, uint64_t namespaces, int cgroup, const char *role,
    const char *argument, struct inside *ret)
{
    const char *const argv[] = {"saphan-probe", "--inside", role, argument, NULL};
    const char *const envp[] = {NULL};
    auto_close int ours = -EBADF, theirs = -EBADF;
    struct namespace_spawn spawn = {
        .namespaces = CLONE_NEWUSER | namespaces,
        .id_base = PROBE_ID_BASE,
        .cgroup = cgroup,
        .program = bench->program,
        .argv = argv,
        .envp = envp,
        .null = bench->null,
    };
    int pair[2], r;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    ours = pair[0];
    theirs = pair[1];
    spawn.channel = theirs;
    r = namespace_spawn(&spawn, &ret->child);
    if (r < 0)
        return r;
    ret->channel = steal_fd(&ours);
    return 0;
}

int inside_hear(const struct inside *inside, struct rung *ret_word)
{
    return descriptor_read_all(inside->channel, ret_word, sizeof(*ret_word));
}

void inside_end(struct inside *inside)
{
    siginfo_t info;

    (void)syscall(SYS_pidfd_send_signal, inside->child.pidfd, SIGKILL, NULL, 0);
    while (
        waitid((idtype_t)P_PIDFD, (id_t)inside->child.pidfd, &info, WEXITED) < 0 && errno == EINTR)
        continue;
    close_fd(&inside->child.pidfd);
    close_fd(&inside->child.user_namespace);
    close_fd(&inside->channel);
}

int inside_ask(const struct bench *bench, uint64_t namespaces, int cgroup, const char *role,
    const char *argument, struct rung *ret_word)
{
    struct inside inside;
    int r;

    r = inside_start(bench, namespaces, cgroup, role, argument, &inside);
    if (r < 0)
        return r;
    r = inside_hear(&inside, ret_word);
    inside_end(&inside);
    return r;
}
