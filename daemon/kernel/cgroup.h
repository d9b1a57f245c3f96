/* cgroup.h - cgroup v2 by directory descriptor: cgroups(7), the kernel's cgroup-v2 document.
 *
 * 0 or -errno throughout.  Nothing here follows a name that someone else chose.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Opens the directory of the calling process's own cgroup v2 (hybrid mounts too).
 * -ENOENT: no cgroup2 is mounted here. *RET_PATH is its path below the mount ("/", "/a/b"). */
int cgroup_open_own(int *ret_fd, char **ret_path);

/* mkdirat(2) and open.  -EEXIST when it is there already. */
int cgroup_make(int parent, const char *name, int *ret_fd);

/* rmdir.  -EBUSY while a process is in it or a child stands below it. */
int cgroup_remove(int parent, const char *name);

/* Moves process PID (0: the caller) into the cgroup. */
int cgroup_enter(int cgroup, int pid);

/* Kills every process of the cgroup and below: cgroup.kill, Linux 5.14. */
int cgroup_kill(int cgroup);

/* Is a process in it, or below it? (cgroup.events) */
int cgroup_populated(int cgroup, bool *ret_populated);

/* The names in cgroup.controllers that are "pids", "memory" or "cpu", as bits. */
enum { CGROUP_CONTROLLER_PIDS = 1, CGROUP_CONTROLLER_MEMORY = 2, CGROUP_CONTROLLER_CPU = 4 };
int cgroup_controllers(int cgroup, const char *file, uint32_t *ret_bits);

/* Writes one of "+pids -memory" to cgroup.subtree_control for each bit. */
int cgroup_delegate(int cgroup, uint32_t bits, bool on);

/* Writes VALUE (decimal) to a limit file: pids.max, memory.max. */
int cgroup_limit(int cgroup, const char *file, uint64_t value);
/* cpu.max for PERCENT of one cpu. */
int cgroup_limit_cpu(int cgroup, uint64_t percent);

/* The number behind KEY in a flat keyed file: memory.events "oom_kill", pids.events "max". */
int cgroup_counter(int cgroup, const char *file, const char *key, uint64_t *ret_value);
