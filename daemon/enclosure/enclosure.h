/* enclosure.h - the walls of a small program that needs no file and is nobody: front, ear, door.
 *
 * They start as root and raise these before they read their first byte.  One place, so that none
 * has a wall less than another.  (Programs that turn names into answers are the requester:
 * confine.h.) All: 0, or -errno with *RET_FAULT (enum step); the process must end then.
 */
#pragma once

#include "fault.h"
#include "seccomp.h"
#include <stdint.h>
#include <sys/resource.h>

/* Into the empty directory ROOT (consumed), for good: chroot(2).  ENOTEMPTY when it is not empty.
 */
int enclosure_root(int root, struct fault *ret_fault);

/* Both limits are VALUE from now on: setrlimit(2). */
int enclosure_limit(__rlimit_resource_t resource, rlim_t value, struct fault *ret_fault);

/* UID and the group of that number, no other group, no capability, no process of its own
 * (RLIMIT_NPROC), not dumpable; looked at once more; then only the calls of FILTER. */
int enclosure_become(uint32_t uid, const struct seccomp_filter *filter, struct fault *ret_fault);

/* All of it, with DESCRIPTORS at most and no core. */
int enclosure_enter(uint32_t uid, int root, rlim_t descriptors, const struct seccomp_filter *filter,
    struct fault *ret_fault);
