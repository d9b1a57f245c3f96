/* ledger.h - what happened, durable: SQLite in WAL mode, one writer, the warden.
 *
 * A leg's row is committed before the agent's exec; the outcome is an amendment.  Numbers and
 * slugs, no blobs: `sqlite3 ledger.db` reads it.
 */
#pragma once

#include "leg.h"

struct ledger;

/* Opens STATE/ledger.db, makes or checks its schema. */
int ledger_open(struct warden *warden, struct ledger **ret);
void ledger_close(struct ledger *ledger);

/* The number after the highest leg ever recorded. */
uint64_t ledger_next_leg(struct ledger *ledger);

/* The rows of ROWS (by row_entry), and the intents of placeholders, in one transaction.  Durable on
 * return.  -EIO, -ENOSPC: none is written. */
int ledger_begin(struct ledger *ledger, const struct leg_list *rows);

/* Events are written with the verdict's commit, or soon.  COUNTS is the leg's, and may be NULL for
 * a note: of what a leg can cause without end DENIALS_PER_LEG and CONNECTIONS_PER_LEG are kept, and
 * a note says that there were more. */
void ledger_event(struct ledger *ledger, const struct seam_event *event,
    struct event_counts *counts, const char *subject, const char *detail);

/* The amendments.  One that cannot be written now is tried again until it can. */
void ledger_end(struct ledger *ledger, const struct leg *leg, const struct verdict *verdict);
void ledger_refused(struct ledger *ledger, uint64_t leg, uint32_t reason, const char *detail,
    uint32_t client_status);

/* -- reading, for answers.c: each calls TAKE with messages ready to send until it returns false --
 */
typedef bool ledger_take(
    void *context, uint16_t type, struct seam_writer *writer, const void *fixed);

#define LEDGER_LEGS_MAX 1000

/* The rows that OWNER may see (UINT32_MAX: all), newest last; only those under way unless ALL.
 * After which row the newest LEDGER_LEGS_MAX of them begin; then the next MOST behind *AFTER at
 * most, which is moved on, until TAKE wants no more.  How many there were, or -errno. */
int ledger_legs_begin(struct ledger *ledger, uint32_t owner, bool all, int64_t *ret_after);
int ledger_legs(struct ledger *ledger, uint32_t owner, bool all, int most, int64_t *after,
    ledger_take *take, void *context);

/* SEAM_LEG.  -ENOENT. */
int ledger_leg(struct ledger *ledger, uint64_t leg, ledger_take *take, void *context);
/* SEAM_EVENT..., as ledger_legs(); *AFTER is 0 for the first. */
int ledger_events(struct ledger *ledger, uint64_t leg, int most, int64_t *after, ledger_take *take,
    void *context);
/* SEAM_VERDICT, if there is one.  -ENOENT: no such leg. */
int ledger_verdict(struct ledger *ledger, uint64_t leg, ledger_take *take, void *context);
/* What its boundary shows and where it stops: strings of why.h, each with its NUL.  -ENOENT: none
 * is recorded. */
int ledger_boundary(struct ledger *ledger, uint64_t leg, char **ret_lines, size_t *ret_size);
/* Further strings of the kind. */
void ledger_boundary_add(struct ledger *ledger, uint64_t leg, const char *lines, size_t size);
/* Whose it was. -ENOENT. */
int ledger_owner(struct ledger *ledger, uint64_t leg, uint32_t *ret_uid);

/* -- the sweep -- */
struct ledger_intent {
    uint64_t leg;
    uint32_t uid, gid;
    uint64_t dev, ino;
    const char *directory; /* its path when the leg began */
    const char *path;      /* relative to it */
};
/* Calls EACH for every intent of a leg that never ended, children first; a result of 0 forgets it.
 */
int ledger_sweep_intents(
    struct ledger *ledger, int (*each)(void *context, const struct ledger_intent *), void *context);
/* Makes every leg that never ended INDETERMINATE (daemon-died); returns how many. */
int ledger_sweep_legs(struct ledger *ledger);

/* Where the last daemon's cgroups stood: "" when there is none.  */
int ledger_note(struct ledger *ledger, const char *key, const char *value);
int ledger_noted(struct ledger *ledger, const char *key, char **ret_value);

/* Forgets ended legs beyond the newest KEEP; calls FORGET for each. */
int ledger_prune(struct ledger *ledger, uint64_t keep, void (*forget)(void *context, uint64_t leg),
    void *context);
