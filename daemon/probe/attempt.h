/* attempt.h - one measurement, in a child of its own, with a deadline.
 *
 * A measurement may close walls around itself, crash or hang; none of that may reach the next one.
 * So each runs in a forked child, its word comes back over a pipe, and what did not come back in
 * time is RUNG_BROKEN: it says nothing.
 */
#pragma once

#include "rungs.h"
#include <sys/types.h>

/* Far above what any takes (a few milliseconds): a busy machine must not look like a broken one. */
#ifdef SAPHAN_SANITIZED
#define ATTEMPT_DEADLINE_MS 20000
#else
#define ATTEMPT_DEADLINE_MS 2000
#endif
/* How long a measurement waits for what should come at once. */
#define ATTEMPT_WAIT_MS (ATTEMPT_DEADLINE_MS / 2)

enum bench_controller { BENCH_PIDS, BENCH_MEMORY, BENCH_CPU, BENCH_CONTROLLERS };

/* What the measurements work with. */
struct bench {
    int program; /* this very program, for namespace_spawn() */
    int null;    /* /dev/null */
    int cgroup;  /* an empty cgroup made for the measurements, or -errno: why there is none */
    int controllers[BENCH_CONTROLLERS]; /* 0, or -errno: why it cannot be had in that cgroup */
    const void *subject;                /* of a facet: which one is measured */
};

/* Fills *RET.  Runs in the child; it may leave behind whatever ends with it. */
typedef void measure_fn(const struct bench *bench, struct rung *ret);

void attempt(measure_fn *measure, const struct bench *bench, struct rung *ret);

/* fork(2) for a measurement: the child ends when its parent does, unless the parent is in a
 * Landlock domain with scoped signals, which stops this one too. */
pid_t attempt_fork(void);

/* -- a measurement's word -- */
void rung_holds(struct rung *ret, int64_t value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* CALL answered -errno R: ENOSYS is RUNG_ABSENT, all others RUNG_REFUSED. */
void rung_refused(struct rung *ret, int r, const char *call);

/* As above, where the manual page says that errno ABSENT means a kernel that does not know it. */
void rung_refused_or_absent(struct rung *ret, int r, int absent, const char *call);

/* The control failed with -errno R (0: it went through where it should not have). */
void rung_broken(struct rung *ret, int r, const char *control);

/* The wall is there by name, and yet the act went through: that is no wall. */
void rung_breached(struct rung *ret, const char *act);
