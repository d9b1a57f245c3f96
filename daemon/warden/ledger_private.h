/* ledger_private.h - what the files of the ledger share. */
#pragma once

#include <event2/event.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

enum ledger_statement {
    STATEMENT_BEGIN,
    STATEMENT_COMMIT,
    STATEMENT_FULL,
    STATEMENT_NORMAL,
    STATEMENT_LEG,
    STATEMENT_LEG_IMAGE,
    STATEMENT_INTENT,
    STATEMENT_BOUNDARY,
    STATEMENT_BOUNDARY_ADD,
    STATEMENT_EVENT,
    STATEMENT_REASON,
    STATEMENT_END,
    STATEMENT_FORGET_INTENTS,
    STATEMENT_CELL_SEEN,
    STATEMENT_CELL_VERSION,
    STATEMENT_COUNT,
};

struct ledger {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    bool open; /* a transaction with events waits to be committed */
    struct event *later;
    STAILQ_HEAD(, late_end) late; /* ledger_ends.c: ends that could not be written yet */
    struct event *retry;
};

/* A SQLite result code as a negative errno, or 0. */
int ledger_error(int code);
/* Events wait in an open transaction; a row's commit takes them along. */
int ledger_start(struct ledger *ledger);
void ledger_roll_back(struct ledger *ledger);
int ledger_commit(struct ledger *ledger);
/* ledger_ends.c.  Closing tries once more to write what waits. */
int ledger_ends_open(struct ledger *ledger, struct event_base *loop);
void ledger_ends_close(struct ledger *ledger);
/* A transaction that is durable when it ends: R is what became of what was done in it; < 0 takes it
 * back. */
int ledger_begin_durable(struct ledger *ledger);
int ledger_end_durable(struct ledger *ledger, int r);
int ledger_run(struct ledger *ledger, enum ledger_statement number);
