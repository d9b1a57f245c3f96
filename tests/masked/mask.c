/* mask SYSCALL... -- COMMAND [ARG]... - runs COMMAND on a kernel that seems not to have SYSCALL.
 *
 * A seccomp filter, kept over fork and exec, answers ENOSYS.  For tests alone: it is how an older
 * kernel looks to saphand, and the right answer to it is a refusal.
 */
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int mask(scmp_filter_ctx filter, const char *name)
{
    int call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR) {
        fprintf(stderr, "mask: unknown system call %s\n", name);
        return -EINVAL;
    }
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), call, 0);
}

int main(int argc, char **argv)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter)
        return 125;
    int at = 1;
    for (; at < argc && strcmp(argv[at], "--") != 0; at++)
        if (mask(filter, argv[at]) < 0)
            return 125;
    if (at + 1 >= argc) {
        fprintf(stderr, "usage: mask SYSCALL... -- COMMAND [ARG]...\n");
        return 125;
    }
    /* Root needs no no_new_privs for a filter, and what runs below must not inherit it. */
    int error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
    if (error == 0)
        error = seccomp_load(filter);
    seccomp_release(filter);
    if (error < 0) {
        fprintf(stderr, "mask: seccomp: %s\n", strerror(-error));
        return 125;
    }
    execvp(argv[at + 1], argv + at + 1);
    fprintf(stderr, "mask: %s: %s\n", argv[at + 1], strerror(errno));
    return errno == ENOENT ? 127 : 126;
}
