#include "ledger_machine.h"

#include "ledger_private.h"
#include "ledger_statement.h"
#include "own.h"
#include <errno.h>

#define ROWS_KEPT 64

static int insert_row(struct ledger *ledger, struct machine_report *report)
{
    const char *const texts[] = {report->kernel, report->distribution, report->boot_id,
        report->host, SAPHAN_VERSION, MACHINE_COMMAND};
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = prepare(ledger,
        "INSERT INTO machine (at_ms, took_us, kernel, distribution, boot_id, host, version,"
        " command) VALUES (?,?,?,?,?,?,?,?)",
        &s);

    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, report->at_ms);
    (void)sqlite3_bind_int64(s, 2, (int64_t)report->took_us);
    for (int i = 0; i < (int)array_size(texts); i++)
        (void)sqlite3_bind_text(s, 3 + i, texts[i], -1, SQLITE_STATIC);
    r = ledger_error(sqlite3_step(s));
    if (r == 0)
        report->number = (uint64_t)sqlite3_last_insert_rowid(ledger->db);
    return r;
}

static int insert_found(
    sqlite3_stmt *s, uint64_t row, enum rung_id id, const char *facet, const struct rung *found)
{
    (void)sqlite3_bind_int64(s, 1, (int64_t)row);
    (void)sqlite3_bind_text(s, 2, rung_slug(id), -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(s, 3, facet, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(s, 4, rung_state_name(found->state), -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s, 5, found->error);
    (void)sqlite3_bind_int64(s, 6, found->value);
    (void)sqlite3_bind_text(s, 7, found->detail, -1, SQLITE_STATIC);
    (void)sqlite3_step(s);
    return ledger_error(sqlite3_reset(s));
}

static int insert_rungs(struct ledger *ledger, const struct machine_report *report)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = prepare(ledger, "INSERT INTO rung VALUES (?,?,?,?,?,?,?)", &s);

    for (uint32_t i = 0; r == 0 && i < RUNG_COUNT; i++)
        r = insert_found(s, report->number, (enum rung_id)i, "", &report->row.rungs[i]);
    for (uint32_t i = 0; r == 0 && i < report->n_facets; i++)
        r = insert_found(s, report->number, report->facets[i].rung, report->facets[i].name,
            &report->facets[i].found);
    return r;
}

static int forget_old(struct ledger *ledger)
{
    char sql[256];

    (void)snprintf(sql, sizeof(sql),
        "DELETE FROM machine WHERE id <= (SELECT max(id) FROM machine) - %d;"
        "DELETE FROM rung WHERE machine <= (SELECT max(id) FROM machine) - %d;",
        ROWS_KEPT, ROWS_KEPT);
    return ledger_error(sqlite3_exec(ledger->db, sql, NULL, NULL, NULL));
}

int ledger_machine_put(struct ledger *ledger, struct machine_report *report)
{
    int r = ledger_begin_durable(ledger);

    if (r == 0)
        r = insert_row(ledger, report);
    if (r == 0)
        r = insert_rungs(ledger, report);
    if (r == 0)
        r = forget_old(ledger);
    if (r < 0)
        report->number = 0;
    return ledger_end_durable(ledger, r);
}
