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

/* The two halves for a child that is born without exec, see zygote.h. */

/* Copies the calling, single-threaded process into NAMESPACES (CLONE_NEW* flags or 0) as a child of
 * its own parent (CLONE_PARENT), who alone can reap it.  *RET_PID is 0 in the copy.  CGROUP as
 * above; the caller needs the right to write its cgroup.procs.  0 or -errno. */
int namespace_fork_sibling(uint64_t namespaces, int cgroup, pid_t *ret_pid, int *ret_pidfd);

/* By the parent: maps ids 0..65535 of the user namespace of PID, a child not reaped yet, to
 * ID_BASE.., which can be done once.  0 or -errno. */
int namespace_map_ids(pid_t pid, uint32_t id_base, int *ret_user_namespace);

/* By the child, once its ids are mapped: the root of its user namespace, no groups, and dead when
 * its parent's thread is (PR_SET_PDEATHSIG; a parent that died before is the caller's to notice).
 * 0 or -errno. */
int namespace_become_root(void);
