/* verdict.h - composing the verdict of a leg that was started.  Pure. */
#pragma once

#include "limit.h"
#include "reasons.h"

/* How the leg ended, as the warden saw it. */
struct ending {
    bool exited;         /* the first process ended and its status is known */
    int32_t wait_status; /* as waitpid(2) gives it, if exited */
    bool stub_lost;      /* pid 1 ended without a report */
    enum reason killed;  /* why we killed it, or REASON_NONE */
    uint64_t oom_kills;  /* memory.events oom_kill */
    uint64_t tasks_hits; /* pids.events max */
    bool output_exceeded;
    enum reason artefacts[32]; /* REASON_NONE for a good one */
    uint32_t n_artefacts;
    bool checker_failed;
    bool nested;    /* a program of the leg tried to build a sandbox of its own, and it counts */
    bool budget;    /* its status means that a budget of the vendor's own was used up */
    bool rewritten; /* a settings file of the seat home changed, and the rule counts that */
};

#define VERDICT_REASONS_MAX 40

struct verdict {
    enum colour colour;
    enum reason reasons[VERDICT_REASONS_MAX];
    uint32_t n_reasons;
    int32_t client_status; /* what `saphan run` exits with */
};

/* The first reason decides for people; the worst colour wins: INDETERMINATE over RED over GREEN.
 * client_status: 0 GREEN; the program's own status or 128+signal where that is the whole story; 112
 * RED although it exited 0; 124 wall time; 125 our own failure; 126, 127 as env(1). */
void verdict_compose(const struct ending *ending, struct verdict *ret);
