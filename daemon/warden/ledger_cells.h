/* ledger_cells.h - the cells of the matrix and their arms, in the ledger. */
#pragma once

#include "ledger.h"
#include "matrix.h"

struct cell_row {
    uint64_t id;
    uint32_t uid;
    enum cell_verdict verdict;
    bool silent;
    enum arm arm;
    uint32_t newest; /* 1; 2: begun and not ended */
    int64_t begun_ms, ended_ms;
    const char *texts[CELL_TEXT_COUNT]; /* NULL or "": nothing */
};

struct arm_row {
    uint64_t cell, leg;
    enum arm arm;
    enum arm_outcome outcome;
    int status;
    int64_t begun_ms, ended_ms;
    const char *texts[ARM_TEXT_COUNT];
};

/* Durable on return, each.  A new cell takes the place of what its key had that was never ended. */
int ledger_cell_begin(struct ledger *ledger, const struct cell_row *row, uint64_t *ret_id);
/* Amends what is judged, and TEXTS that are not NULL; the cell is the newest of its key from then
 * on. */
int ledger_cell_end(struct ledger *ledger, const struct cell_row *row);
int ledger_arm_put(struct ledger *ledger, const struct arm_row *row);

/* TAKE gets rows whose texts live until it returns; when it says false the reading ends. */
typedef bool ledger_take_cell(void *context, const struct cell_row *row);
typedef bool ledger_take_arm(void *context, const struct arm_row *row);

/* Those behind AFTER, by number: only the newest ones unless HISTORY; VENDOR NULL: all. */
int ledger_cells(struct ledger *ledger, bool history, const char *vendor, uint64_t after,
    ledger_take_cell *take, void *context);
int ledger_cell(struct ledger *ledger, uint64_t id, ledger_take_cell *take, void *context);
int ledger_arms(struct ledger *ledger, uint64_t cell, ledger_take_arm *take, void *context);

/* The newest ended cell of this host for the three; TAKE is not called when there is none. */
int ledger_cell_of(struct ledger *ledger, const char *vendor, const char *boundary,
    const char *sandbox, ledger_take_cell *take, void *context);
/* Whether anybody ended a cell of the two on this host. */
int ledger_cell_seen(struct ledger *ledger, const char *vendor, const char *boundary, bool *ret);
/* The version in the newest cell of VENDOR measured on this host, or "". */
int ledger_newest_version(struct ledger *ledger, const char *vendor, char *out, size_t size);

/* What is known of a leg that was an arm.  -ENOENT. */
struct arm_leg_row {
    uint32_t uid;
    enum boundary boundary;
    char vendor[64];
    int64_t asked_ms, ended_ms, wall_us;
    int64_t cpu_us;         /* -1: not known */
    uint64_t refused_calls; /* denials told, repeats counted */
    struct arm_leg facts;
    char reason[ARM_DETAIL_MAX]; /* the first one's slug and detail */
    char nested[ARM_DETAIL_MAX]; /* the detail of nested-sandbox; "" */
    char denial[ARM_DETAIL_MAX]; /* the first one told; "" */
    char claims[4096];
    char sandbox[16], identity[200], version[320], sha256[65]; /* of the notes of a measuring leg */
    char events[ARM_EVENTS_MAX];
};
int ledger_arm_leg(struct ledger *ledger, uint64_t leg, struct arm_leg_row *ret);
