/* claims.c - which rungs back which claim.
 *
 * A claim has one or more sets of rungs, in order of preference.  A set backs the claim only if all
 * of its rungs hold on this machine; the first such set is the one that is named to the requester.
 * Every set is enough on its own: a later one is another way, never a weaker promise.  Where no set
 * holds the leg is refused.
 *
 * Within a set the rungs stand in the order of what rests on what, so that on a kernel without
 * Landlock the missing rung is named `landlock`, not one of its refinements.
 */
#include "rungs.h"

#include "own.h"
#include <errno.h>

static const char *const slugs[CLAIM_COUNT] = {
#define CLAIM(name, slug, meaning) [CLAIM_##name] = slug,
#include "claims.def"
#undef CLAIM
};

static const char *const meanings[CLAIM_COUNT] = {
#define CLAIM(name, slug, meaning) [CLAIM_##name] = meaning,
#include "claims.def"
#undef CLAIM
};

#define SET_MAX 12
#define SETS_MAX 3

struct rung_set {
    size_t count; /* 0: there is no such set */
    enum rung_id rungs[SET_MAX];
};

#define SET(...)                                                                                   \
    {                                                                                              \
        sizeof((enum rung_id[]){__VA_ARGS__}) / sizeof(enum rung_id),                              \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static const struct rung_set backing[CLAIM_COUNT][SETS_MAX] = {
    /* The mounts outside the grants are read-only, and without a capability nobody inside can make
     * them writable; Landlock says the same a second time.  Before ABI 3 Landlock does not decide
     * truncation: that is a hole of Landlock's alone, for the read-only mounts refuse it too.
     * Landlock itself stands in both sets: a domain without it is not a domain. */
    [CLAIM_WRITE_CONFINED] =
        {
            SET(RUNG_USERNS, RUNG_MOUNTNS, RUNG_IDMAP, RUNG_CAPABILITIES, RUNG_OPENAT2,
                RUNG_LANDLOCK, RUNG_LANDLOCK_REFER, RUNG_LANDLOCK_TRUNCATE),
            SET(RUNG_USERNS, RUNG_MOUNTNS, RUNG_IDMAP, RUNG_CAPABILITIES, RUNG_OPENAT2,
                RUNG_LANDLOCK),
        },
    /* What is not mounted cannot be named; /proc shows the leg's own processes; System V memory and
     * message queues are another ipc namespace's. */
    [CLAIM_READ_CONFINED] =
        {
            SET(RUNG_USERNS, RUNG_MOUNTNS, RUNG_IDMAP, RUNG_PROC_MOUNT, RUNG_IPCNS,
                RUNG_CAPABILITIES, RUNG_OPENAT2, RUNG_LANDLOCK),
        },
    [CLAIM_STRANGER] = {SET(RUNG_USERNS, RUNG_IDMAP)},
    /* No name for a process outside, and ids that may not touch it; or Landlock, which scopes
     * signals (ABI 6) and has refused tracing out of a domain from the first. */
    [CLAIM_SIGNALS_INSIDE] =
        {
            SET(RUNG_PIDNS, RUNG_USERNS),
            SET(RUNG_LANDLOCK, RUNG_LANDLOCK_SCOPE),
        },
    /* The families that no namespace holds (vsock and others) are refused by the filter. */
    [CLAIM_EGRESS_CUT] = {SET(RUNG_NETNS, RUNG_MOUNTNS, RUNG_SECCOMP)},
    /* A new user namespace would give capabilities inside it: the filter refuses to make one. */
    [CLAIM_NO_PRIVILEGE] = {SET(
        RUNG_NO_NEW_PRIVS, RUNG_CAPABILITIES, RUNG_SECCOMP, RUNG_SECCOMP_NOTIFY)},
    /* The same, where a container was given some: the bounding set holds no other, and each is over
     * the leg's own user namespace. */
    [CLAIM_PRIVILEGE_LISTED] = {SET(RUNG_USERNS, RUNG_IDMAP, RUNG_NO_NEW_PRIVS, RUNG_CAPABILITIES,
        RUNG_SECCOMP, RUNG_SECCOMP_NOTIFY)},
    [CLAIM_KERNEL_SURFACE] = {SET(RUNG_NO_NEW_PRIVS, RUNG_SECCOMP)},
    /* The end of pid 1 ends its namespace; cgroup.kill ends the cgroup, whatever it forked. */
    [CLAIM_ENDS_WHOLE] =
        {
            SET(RUNG_PIDNS, RUNG_PIDFD, RUNG_CGROUP2, RUNG_CGROUP_KILL),
            SET(RUNG_PIDNS, RUNG_PIDFD),
            SET(RUNG_CGROUP2, RUNG_CGROUP_KILL),
        },
    /* RLIMIT_NPROC counts by id, and a leg's ids are its own. */
    [CLAIM_TASKS_BOUNDED] =
        {
            SET(RUNG_CGROUP2, RUNG_CGROUP_PIDS),
            SET(RUNG_USERNS, RUNG_RLIMIT_NPROC),
        },
    [CLAIM_MEMORY_BOUNDED] = {SET(RUNG_CGROUP2, RUNG_CGROUP_MEMORY)},
    [CLAIM_CPU_BOUNDED] = {SET(RUNG_CGROUP2, RUNG_CGROUP_CPU)},
    /* The same wall as where egress is cut; the door is the one way out of it. */
    /* Abstract sockets live in the network namespace, those with a path in the mount namespace:
     * what the view does not show is not there.  Of the host's view see back_claims(). */
    [CLAIM_SOCKETS_SHUT] = {SET(RUNG_NETNS, RUNG_MOUNTNS, RUNG_SECCOMP)},
    [CLAIM_EGRESS_LISTED] = {SET(RUNG_NETNS, RUNG_MOUNTNS, RUNG_SECCOMP)},
    /* The filter refuses what makes a TCP connection without Landlock's hearing of it. */
    [CLAIM_TCP_CUT] = {SET(RUNG_LANDLOCK, RUNG_LANDLOCK_NET, RUNG_SECCOMP)},
    /* The program decides on IPv4 and IPv6; every other family that leads out, the filter. */
    [CLAIM_INTERNET_CUT] = {SET(RUNG_CGROUP2, RUNG_CGROUP_BPF, RUNG_SECCOMP)},
};

/* What differs in a container: its root is a stack of layers that only its own root could write,
 * and is mounted read-only; Landlock is left to the vendor. */
static const struct rung_set in_container[CLAIM_COUNT][SETS_MAX] = {
    [CLAIM_WRITE_CONFINED] = {SET(
        RUNG_USERNS, RUNG_MOUNTNS, RUNG_IDMAP, RUNG_OVERLAY, RUNG_CAPABILITIES, RUNG_OPENAT2)},
    [CLAIM_READ_CONFINED] = {SET(RUNG_USERNS, RUNG_MOUNTNS, RUNG_IDMAP, RUNG_OVERLAY,
        RUNG_PROC_MOUNT, RUNG_IPCNS, RUNG_CAPABILITIES, RUNG_OPENAT2)},
    [CLAIM_SIGNALS_INSIDE] = {SET(RUNG_PIDNS, RUNG_USERNS)},
};

const char *claim_slug(enum claim_id claim)
{
    return (size_t)claim < CLAIM_COUNT ? slugs[claim] : "?";
}

const char *claim_meaning(enum claim_id claim)
{
    return (size_t)claim < CLAIM_COUNT ? meanings[claim] : "?";
}

/* All hold: true and the set as bits.  Else false and the first that does not. */
static bool set_holds(const struct rung_set *set, const struct machine_row *machine,
    uint64_t *ret_bits, enum rung_id *ret_missing)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < set->count; i++) {
        if (machine->rungs[set->rungs[i]].state != RUNG_HOLDS) {
            *ret_missing = set->rungs[i];
            return false;
        }
        bits |= UINT64_C(1) << set->rungs[i];
    }
    *ret_bits = bits;
    return true;
}

static int back(const struct rung_set *sets, const struct machine_row *machine, uint64_t *ret_rungs,
    enum rung_id *ret_missing)
{
    enum rung_id missing, first = RUNG_COUNT;
    uint64_t bits;

    for (size_t i = 0; i < SETS_MAX && sets[i].count > 0; i++) {
        if (set_holds(&sets[i], machine, &bits, &missing)) {
            *ret_rungs = bits;
            return 0;
        }
        if (i == 0)
            first = missing;
    }
    *ret_missing = first;
    return -ENOENT;
}

int claim_back(enum claim_id claim, const struct machine_row *machine, uint64_t *ret_rungs,
    enum rung_id *ret_missing)
{
    return back(backing[claim], machine, ret_rungs, ret_missing);
}

int claim_back_in_container(enum claim_id claim, const struct machine_row *machine,
    uint64_t *ret_rungs, enum rung_id *ret_missing)
{
    const struct rung_set *sets = in_container[claim];

    return back(sets[0].count > 0 ? sets : backing[claim], machine, ret_rungs, ret_missing);
}
