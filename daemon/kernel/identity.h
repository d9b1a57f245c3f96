/* identity.h - becoming somebody, with no privilege left, by plain numbers: nothing is parsed or
 * looked up here.
 *
 * credentials(7), capabilities(7).  Raw system calls: each acts on the calling thread alone and
 * touches no state of the C library, so that they also serve a child that shares its parent's
 * memory. 0 or -errno throughout.  The order is: bound, become, drop, no_new_privs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct identity {
    uid_t uid;
    gid_t gid;
    const gid_t *groups; /* supplementary groups, exactly these */
    size_t n_groups;
};

/* As identity_bound(), but the bounding set keeps CAPABILITIES, for identity_hold(). */
int identity_bound_to(uint64_t capabilities);

/* Leaves CAPABILITIES, and no other, in every set, the ambient one too: what is executed from here
 * on has exactly these; and locks that.  Needs CAP_SETPCAP, and identity_bound_to() before. */
int identity_hold(uint64_t capabilities);

/* Empties the capability bounding set, and locks the securebits so that neither uid 0 nor an
 * ambient capability can bring one back at exec.  Needs CAP_SETPCAP, but not to find both done: a
 * process that bears others does it once for all of them. */
int identity_bound(void);

/* Supplementary groups, then all three gids, then all three uids.  Needs CAP_SETUID, CAP_SETGID. */
int identity_become(const struct identity *identity);

/* Leaves CAPABILITIES (bits of 1 << CAP_*) in the permitted and effective sets, and none in the
 * ambient and inheritable ones. */
int identity_keep(uint64_t capabilities);

/* Leaves none. */
int identity_drop(void);

/* No exec gains privilege any more. */
int identity_no_new_privs(void);

/* Looks again: true when no set holds a capability and no_new_privs is set. */
bool identity_is_powerless(void);

/* The four in their order. */
int identity_give_up(const struct identity *identity);
