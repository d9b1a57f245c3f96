/* inside.h - the probe started again inside fresh namespaces, as a leg's stub is.
 *
 * namespace_spawn() execs a program; here that is the probe itself with `--inside ROLE ARGUMENT`.
 * What it finds there comes back over its channel as one struct rung.
 */
#pragma once

#include "attempt.h"
#include "namespace.h"

/* Just below the first range that a leg can have: see id ranges in the warden. */
#define PROBE_ID_BASE 0x6fff0000U

/* What the role "memory" uses, bytes. */
#define INSIDE_MEMORY (8 * 1024 * 1024)

/* How long the role "crowd" leaves children at most. */
#define INSIDE_CROWD_SECONDS (ATTEMPT_DEADLINE_MS / 1000 + 1)

struct inside {
    struct namespace_child child;
    int channel;
};

/* NAMESPACES beside CLONE_NEWUSER; CGROUP as in struct namespace_spawn.  0 or -errno. */
int inside_start(const struct bench *bench, uint64_t namespaces, int cgroup, const char *role,
    const char *argument, struct inside *ret);
int inside_hear(const struct inside *inside, struct rung *ret_word); /* -ENODATA: it ended */
void inside_end(struct inside *inside);                              /* kills, waits, closes */

/* All three. */
int inside_ask(const struct bench *bench, uint64_t namespaces, int cgroup, const char *role,
    const char *argument, struct rung *ret_word);

/* The other half: `--inside ROLE ARGUMENT`.  The exit status. */
int inside_main(const char *role, const char *argument);

/* True when a further process of PROCESSES can be made; else -errno in *RET_R.  It ends at once. */
bool inside_can_fork(int *ret_r);

/* overlay.c: the role "overlay". */
void in_overlay(const char *argument, struct rung *ret);
