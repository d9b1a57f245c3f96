/* ledger_statement.h - SQLite statements that are used once; for the files of the ledger alone. */
#pragma once

#include "ledger_private.h"
#include "own.h"

static inline void finalize(sqlite3_stmt *statement)
{
    (void)sqlite3_finalize(statement);
}
DEFINE_AUTO(sqlite3_stmt *, finalize);

static inline int prepare(struct ledger *ledger, const char *sql, sqlite3_stmt **ret)
{
    return ledger_error(sqlite3_prepare_v2(ledger->db, sql, -1, ret, NULL));
}

/* NULL is kept as "". */
static inline void bind_text(sqlite3_stmt *s, int at, const char *text)
{
    (void)sqlite3_bind_text(s, at, text ? text : "", -1, SQLITE_TRANSIENT);
}
