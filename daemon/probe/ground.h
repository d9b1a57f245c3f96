/* ground.h - the cgroup that the measurements work in: made, its controllers asked for, removed. */
#pragma once

#include "attempt.h"

struct ground {
    int parent; /* the directory that was passed, or -EBADF; owned */
    char name[32];
    bool enabled[BENCH_CONTROLLERS]; /* by us, to be taken back */
};

/* Makes a cgroup in PARENT, which is consumed: a cgroup v2 directory, or -errno.  Fills BENCH's
 * cgroup and controllers; there is no failure but what they say. */
void ground_make(int parent, struct ground *ret, struct bench *bench);

/* Ends what is still in it, removes it, and gives PARENT back as it was. */
void ground_remove(struct ground *ground, struct bench *bench);

/* Waits until no process is left in CGROUP.  0 or -ETIME. */
int ground_wait_empty(int cgroup, int milliseconds);

/* The cgroup v2 directory that this process is in, found through /sys/fs/cgroup and
 * /proc/self/cgroup, for when nobody passed one.  A descriptor, or -ENODEV: none is mounted. */
int ground_find(void);
