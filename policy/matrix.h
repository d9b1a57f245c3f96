/* matrix.h - what the arms of a cell let say: vendor, version, platform and boundary, measured.
 *
 * A cell is six arms.  0 to 3 are our own controls inside the boundary, 4 is the vendor's turn
 * there, 5 the same turn outside of it with the vendor's own sandbox on.  Nothing is said of the
 * vendor unless all controls held: a failure without its control is no collision, and a blank is no
 * "no". All of it is pure.
 */
#pragma once

#include "reasons.h"
#include "rungs.h"

enum arm {
    ARM_ECHO,       /* /bin/echo in the same boundary */
    ARM_WRITE,      /* a write inside the grant, read back from outside */
    ARM_OUTSIDE,    /* a write outside of it, refused */
    ARM_GRANDCHILD, /* the same from a grandchild, two execs down */
    ARM_TURN,       /* the vendor's real turn, its artefact checked */
    ARM_CONTROL,    /* the same turn outside of our boundary, the vendor's own sandbox on */
    ARM_COUNT,
};

enum arm_outcome {
    OUTCOME_BLANK = 0,  /* it was never begun */
    OUTCOME_RUNNING,    /* begun; nobody said how it ended */
    OUTCOME_HELD,       /* it did what it is there for */
    OUTCOME_LOUD,       /* it failed and said so: a status, a signal */
    OUTCOME_SILENT,     /* it ended with 0 and the artefact is not there */
    OUTCOME_WITHOUT,    /* its own sandbox was refused, and it did its work without it */
    OUTCOME_HUNG,       /* it did not end within its bound, and was ended */
    OUTCOME_REFUSED,    /* it was never started: a reason says why */
    OUTCOME_LOST,       /* the means to know were lost */
    OUTCOME_UNRUNNABLE, /* a control before it failed, so it would say nothing */
    OUTCOME_COUNT,
};

enum cell_verdict {
    CELL_BLANK = 0,
    CELL_NESTS = 1,
    CELL_COLLIDES = 2,
    CELL_HANGS = 3,
    CELL_INDETERMINATE = 4,
};

const char *arm_slug(enum arm arm);                 /* "turn" */
const char *arm_meaning(enum arm arm);              /* one line for people */
const char *outcome_name(enum arm_outcome outcome); /* "held" */
const char *cell_verdict_name(enum cell_verdict verdict);
int outcome_parse(const char *name, enum arm_outcome *ret); /* -EINVAL */
int cell_verdict_parse(const char *name, enum cell_verdict *ret);

/* What the ledger knows of a leg that was an arm. */
struct arm_leg {
    enum colour colour;
    int wait_status; /* -1: not known */
    enum reason reasons[16];
    uint32_t n_reasons;
};

enum arm_outcome arm_judge(const struct arm_leg *leg);

struct arm_facts {
    enum arm_outcome outcome;
    const char *detail; /* the call, the path, the status; may be NULL */
};

#define CELL_WHY_MAX 512

struct cell_finding {
    enum cell_verdict verdict;
    bool silent;  /* of CELL_COLLIDES: it ended with 0, and nothing was there */
    enum arm arm; /* which one decided */
    char why[CELL_WHY_MAX];
};

/* Always decides. */
void cell_judge(const struct arm_facts arms[ARM_COUNT], struct cell_finding *ret);

/* Where and on what a cell was measured, and what is now.  NULL: not known. */
struct cell_ground {
    const char *kernel, *version, *vendor_version, *program;
};

#define CELL_STALE_MAX 200

/* True when what was measured on THEN still says something NOW; else WHY says what changed. */
bool cell_is_fresh(
    const struct cell_ground *then, const struct cell_ground *now, char why[CELL_STALE_MAX]);
