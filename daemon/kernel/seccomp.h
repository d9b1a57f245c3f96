/* seccomp.h - installing a system call filter that was compiled at build time.
 *
 * seccomp(2), the kernel's Documentation/userspace-api/seccomp_filter.rst.  no_new_privs must be
 * set.
 */
#pragma once

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct seccomp_filter {
    const struct sock_filter *code;
    size_t length; /* instructions */
};

/* 0 or -errno. */
int seccomp_install(const struct seccomp_filter *filter);

/* Returns the descriptor on which the calls that the filter answers with SECCOMP_RET_USER_NOTIF are
 * told (close-on-exec), or -errno.  -EBUSY: there is a listener above already. */
int seccomp_install_listener(const struct seccomp_filter *filter);

/* One call that waits for its answer. */
struct seccomp_call {
    uint64_t id;
    pid_t pid; /* in the listener's pid namespace; 0 when it is not in it */
    int number;
    uint64_t arguments[6];
};

/* 0; -ENOENT: the caller was killed meanwhile; -EAGAIN on a non-blocking listener; -errno. */
int seccomp_receive(int listener, struct seccomp_call *ret);

/* Lets the call fail with ERROR (a positive errno).  -ENOENT: the caller is gone. */
int seccomp_refuse(int listener, uint64_t id, int error);
