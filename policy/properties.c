#include "properties.h"

#include <stdio.h>

static const struct {
    const char *slug, *meaning;
} words[PROPERTY_COUNT] = {
    [PROPERTY_HOST_CAN_JAIL] = {"host-can-jail", "the host can jail: every promise of a boundary "
                                                 "is backed here"},
    [PROPERTY_BACKEND_JAILED] = {"backend-jailed", "this backend is jailed: a vendor was seen "
                                                   "working inside a boundary here"},
    [PROPERTY_EGRESS_CUT] = {"egress-cut", "egress is cut: no packet leaves a leg that asks for "
                                           "no network"},
};

const char *property_slug(enum property property)
{
    return property < PROPERTY_COUNT ? words[property].slug : "?";
}

const char *property_meaning(enum property property)
{
    return property < PROPERTY_COUNT ? words[property].meaning : "?";
}

/* What backs CLAIM, or which rung does not. */
static enum rung_state judge_claim(
    enum claim_id claim, const struct machine_row *machine, char detail[PROPERTY_DETAIL_MAX])
{
    enum rung_id missing;
    uint64_t rungs;
    size_t at = 0;

    if (claim_back(claim, machine, &rungs, &missing) < 0) {
        const struct rung *rung = &machine->rungs[missing];

        (void)snprintf(detail, PROPERTY_DETAIL_MAX, "claim %s wants %s to hold; found: %s%s%s",
            claim_slug(claim), rung_slug(missing), rung_state_name(rung->state),
            rung->detail[0] ? ": " : "", rung->detail);
        return rung->state == RUNG_BROKEN || rung->state == RUNG_NEVER_ASKED ? rung->state
                                                                             : RUNG_REFUSED;
    }
    for (unsigned int i = 0; i < RUNG_COUNT && at < PROPERTY_DETAIL_MAX; i++) {
        if (rungs >> i & 1)
            at += (size_t)snprintf(detail + at, PROPERTY_DETAIL_MAX - at, "%s%s",
                at ? " " : "backed by ", rung_slug((enum rung_id)i));
    }
    return RUNG_HOLDS;
}

static enum rung_state judge_host(
    const struct machine_row *machine, char detail[PROPERTY_DETAIL_MAX])
{
    for (unsigned int i = CLAIM_WRITE_CONFINED; i <= CLAIM_ENDS_WHOLE; i++) {
        enum rung_state state;

        if (i == CLAIM_EGRESS_CUT) /* a row of its own */
            continue;
        state = judge_claim((enum claim_id)i, machine, detail);
        if (state != RUNG_HOLDS)
            return state;
    }
    (void)snprintf(detail, PROPERTY_DETAIL_MAX, "every claim of the domain boundary is backed");
    return RUNG_HOLDS;
}

/* That the host can jail says nothing of a program that was never run in a jail. */
static enum rung_state judge_backend(
    const struct cell_counts *cells, char detail[PROPERTY_DETAIL_MAX])
{
    (void)snprintf(detail, PROPERTY_DETAIL_MAX,
        "cells of this host: %u nest, %u collide, %u hang, %u indeterminate, %u stale; each vendor "
        "has its own: saphan matrix show",
        cells->nests, cells->collides, cells->hangs, cells->indeterminate, cells->stale);
    if (cells->nests > 0)
        return RUNG_HOLDS;
    if (cells->collides + cells->hangs > 0)
        return RUNG_REFUSED;
    if (cells->indeterminate > 0)
        return RUNG_BROKEN;
    (void)snprintf(detail, PROPERTY_DETAIL_MAX,
        "nobody looked: no fresh cell was measured on this host; saphan matrix measure");
    return RUNG_NEVER_ASKED;
}

enum rung_state property_judge(enum property property, const struct machine_row *machine,
    const struct cell_counts *cells, char detail[PROPERTY_DETAIL_MAX])
{
    detail[0] = '\0';
    switch (property) {
    case PROPERTY_HOST_CAN_JAIL:
        return judge_host(machine, detail);
    case PROPERTY_EGRESS_CUT:
        return judge_claim(CLAIM_EGRESS_CUT, machine, detail);
    default:
        return judge_backend(cells, detail);
    }
}
