/* boundary.h - builds around a leg what its plan says, in three parts.
 *
 * The stub, pid 1 of fresh namespaces and root of its own user namespace, calls boundary_prepare()
 * while it is a slot: an empty root with a /proc, and the host's tree is gone.  With a plan it
 * calls boundary_build(): the leg's file tree.  Then the process that will become the leg's program
 * calls boundary_raise() on itself: streams, limits, identity, and the walls that cannot be taken
 * down again.  Each failure is a struct fault: {enum step, errno, subject}; after one the whole
 * slot is thrown away, so nothing is rolled back.
 */
#pragma once

#include "fault.h"
#include "plan.h"

/* Whom pid 1 runs as while its leg runs: an id of the leg's range that is nobody's. */
#define BOUNDARY_PID1_ID 65533

#define SITE_LED_MAX 64

/* The boundary of one leg while it is built. */
struct site {
    const struct plan_view *view;
    const struct plan *plan;
    const int *descriptors; /* as the plan's indices say; not owned */

    int root;                /* the leg's "/" */
    int tmp, run, shm, home; /* directories of the one scratch file system, each a mount; home may
                                be missing: a seat is the leg's HOME then */
    int proc, devices;
    int sys;                       /* of a container alone: sys.c */
    int ruleset;                   /* Landlock's */
    int null;                      /* the leg's own /dev/null */
    char *places[PLAN_MOUNTS_MAX]; /* where a mount stands, if not at its target; owned */
    char *led[SITE_LED_MAX]; /* what is read-only because a carve-out is a link to it; owned */
    uint32_t n_led;
    int streams[3]; /* what becomes descriptors 0, 1 and 2 */
    int kept[3];    /* read ends of pipes to the stub, for output it keeps or counts, or -EBADF */
};

void boundary_init(struct site *site);
void boundary_done(struct site *site); /* closes what was opened */

/* Before there is any slot: the calling process, which is root, goes into a mount namespace of its
 * own that holds the host's /proc, for a slot gets its own while that is in sight, and nothing
 * else. What is born from here on copies two mounts, not all of the host's, and never sees its
 * tree. */
int boundary_leave_host(struct fault *ret_fault);

int boundary_prepare(struct site *site, struct fault *ret_fault);

/* VIEW and DESCRIPTORS must outlive SITE. */
int boundary_build(struct site *site, const struct plan_view *view, const int *descriptors,
    struct fault *ret_fault);

/* Takes from the calling process what no exec from here on may gain: boundary_raise() does it too,
 * and finds it done on a process that was born after. */
int boundary_bound(const struct plan *plan, struct fault *ret_fault);

/* On the calling process, for good.  *RET_LISTENER is told the calls that build a sandbox: pid 1's
 * to answer; without an answer the caller waits for ever. */
int boundary_raise(struct site *site, int *ret_listener, struct fault *ret_fault);

/* What becomes of pid 1 once the program runs: no capability, an id of its own, not dumpable, its
 * own system call filter.  Files it opens for reading count as the leg's identity. */
int boundary_retire(uint32_t uid, uint32_t gid, struct fault *ret_fault);
