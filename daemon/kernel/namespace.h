/* namespace.h - a process in fresh namespaces, its id map, its cgroup, held by pidfd from birth.
 *
 * clone(2), user_namespaces(7), cgroups(7) "CLONE_INTO_CGROUP".
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct namespace_spawn {
    uint64_t namespaces; /* CLONE_NEW* flags; CLONE_NEWUSER among them */
    uint32_t id_base;    /* ids 0..65535 inside are ID_BASE.. outside */
    int cgroup;          /* directory descriptor of the cgroup v2 to be born into, or -EBADF */
    int program;         /* descriptor of the program, executed by execveat(2) */
    const char *const *argv;
    const char *const *envp;
    int channel; /* becomes descriptor 3 of the child; 0, 1 and 2 are /dev/null */
    int null;    /* an open /dev/null, read-write */
};

struct namespace_child {
    pid_t pid;
    int pidfd;
    int user_namespace; /* for mount_setattr(2): MOUNT_ATTR_IDMAP */
};

/* Clones, maps the ids, then lets the child exec: a child that execs before its ids are mapped
 * loses its capabilities in the new namespace.  The child dies with the calling thread
 * (PR_SET_PDEATHSIG).  Between clone and exec the child makes only async-signal-safe calls.
 * 0 or -errno; on failure nothing is left. */
int namespace_spawn(const struct namespace_spawn *spawn, struct namespace_child *ret);
