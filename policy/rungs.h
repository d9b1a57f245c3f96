/* rungs.h - the mechanisms of this machine, as measured, and the claims they back.
 *
 * A rung's state comes from doing the thing (saphan-probe); nothing is inferred from a version
 * number.  A claim is a promise to the requester; claims.c says which sets of rungs back it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rung_state {
    RUNG_NEVER_ASKED = 0,
    RUNG_HOLDS = 1,
    RUNG_REFUSED = 2, /* the kernel said no: call and errno in detail */
    RUNG_ABSENT = 3,  /* this kernel has no such thing */
    RUNG_BROKEN = 4,  /* the control beside it failed, so the try says nothing */
};

enum rung_id {
#define RUNG(name, slug, meaning) RUNG_##name,
#include "rungs.def"
#undef RUNG
    RUNG_COUNT
};

#define RUNG_DETAIL_MAX 120

struct rung {
    enum rung_state state;
    int32_t error;                /* errno of the refusal, else 0 */
    int64_t value;                /* what the rung measures (Landlock: the ABI), else 0 */
    char detail[RUNG_DETAIL_MAX]; /* what was tried and what came back, for people */
    bool asked;                   /* somebody came to it, whatever it said */
};

struct machine_row {
    struct rung rungs[RUNG_COUNT];
};

/* A finer measurement under a rung (one right, one file system): told and kept, backs no claim. */
#define RUNG_FACET_MAX 48
#define RUNG_FACETS_MAX 96

struct rung_facet {
    enum rung_id rung;
    char name[RUNG_FACET_MAX];
    struct rung found;
};

enum claim_id {
#define CLAIM(name, slug, meaning) CLAIM_##name,
#include "claims.def"
#undef CLAIM
    CLAIM_COUNT
};

const char *rung_slug(enum rung_id rung);    /* "userns" */
const char *rung_meaning(enum rung_id rung); /* one line for people */
const char *rung_state_name(enum rung_state state);
int rung_state_parse(const char *name, enum rung_state *ret); /* -EINVAL */
int rung_parse(const char *slug, enum rung_id *ret);          /* -EINVAL */

const char *claim_slug(enum claim_id claim);
const char *claim_meaning(enum claim_id claim);

/* A claim with the rungs that back it on this machine. */
struct backed_claim {
    enum claim_id claim;
    uint64_t rungs; /* bit (1 << rung_id) for each */
};

/* Finds the first set of rungs of the claim's list that holds as a whole.  0 and *ret_rungs, or
 * -ENOENT and *ret_missing: the first rung of the first set that does not hold. */
int claim_back(enum claim_id claim, const struct machine_row *machine, uint64_t *ret_rungs,
    enum rung_id *ret_missing);

/* The same for a container, where no Landlock domain stands above the leg. */
int claim_back_in_container(enum claim_id claim, const struct machine_row *machine,
    uint64_t *ret_rungs, enum rung_id *ret_missing);
