#include "ledger_cells.h"

#include "ledger_private.h"
#include "ledger_statement.h"
#include "text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int step(sqlite3_stmt *s)
{
    return ledger_error(sqlite3_step(s));
}

static const char *text_at(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);

    return text ? text : "";
}

static void copy(char *out, size_t size, const char *text)
{
    (void)snprintf(out, size, "%s", text ? text : "");
}

#define CELL_COLUMNS "id, uid, verdict, silent, arm, newest, begun_ms, ended_ms"
#define CELL_TEXT(name, max) ", " #name
static const char cell_text_columns[] =
#include "cell_texts.def"
    ;
#undef CELL_TEXT
#define CELL_TEXT(name, max) ", ?"
static const char cell_text_marks[] =
#include "cell_texts.def"
    ;
#undef CELL_TEXT

/* ---- writing ---- */

static int retire(struct ledger *ledger, const struct cell_row *row, const char *sql)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = prepare(ledger, sql, &s);

    if (r < 0)
        return r;
    bind_text(s, 1, row->texts[CELL_TEXT_vendor]);
    bind_text(s, 2, row->texts[CELL_TEXT_boundary]);
    (void)sqlite3_bind_int64(s, 3, (int64_t)row->id);
    return step(s);
}

static int insert(struct ledger *ledger, const struct cell_row *row, uint64_t *ret_id)
{
    auto_free char *sql = text_format("INSERT INTO cell (uid, verdict, silent, arm, newest,"
                                      " begun_ms, ended_ms%s) VALUES (?,?,?,?,?,?,?%s)",
        cell_text_columns, cell_text_marks);
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = sql ? prepare(ledger, sql, &s) : -ENOMEM;

    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, row->uid);
    (void)sqlite3_bind_int(s, 2, (int)row->verdict);
    (void)sqlite3_bind_int(s, 3, row->silent);
    (void)sqlite3_bind_int(s, 4, (int)row->arm);
    (void)sqlite3_bind_int(s, 5, (int)row->newest);
    (void)sqlite3_bind_int64(s, 6, row->begun_ms);
    (void)sqlite3_bind_int64(s, 7, row->ended_ms);
    for (int i = 0; i < CELL_TEXT_COUNT; i++)
        bind_text(s, 8 + i, row->texts[i]);
    r = step(s);
    if (r == 0)
        *ret_id = (uint64_t)sqlite3_last_insert_rowid(ledger->db);
    return r;
}

/* What has the same key and was the newest is so no more. */
static int displace(struct ledger *ledger, uint64_t id)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = prepare(ledger,
        "UPDATE cell SET newest=0 WHERE newest > 0 AND newest=1 AND id != ?1 AND (vendor, "
        "boundary, sandbox,"
        " vendor_version, origin) = (SELECT vendor, boundary, sandbox, vendor_version, origin FROM"
        " cell WHERE id=?1)",
        &s);

    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, (int64_t)id);
    return step(s);
}

int ledger_cell_begin(struct ledger *ledger, const struct cell_row *row, uint64_t *ret_id)
{
    int r = ledger_begin_durable(ledger);

    if (r == 0 && row->newest == 2)
        r = retire(ledger, row,
            "UPDATE cell SET newest=0 WHERE newest > 0 AND newest=2 AND vendor=? AND boundary=? "
            "AND id != ?");
    if (r == 0)
        r = insert(ledger, row, ret_id);
    if (r == 0 && row->newest == 1)
        r = displace(ledger, *ret_id);
    return ledger_end_durable(ledger, r);
}

static int amend_text(struct ledger *ledger, uint64_t id, const char *column, const char *text)
{
    auto_free char *sql = text_format("UPDATE cell SET %s=? WHERE id=?", column);
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = sql ? prepare(ledger, sql, &s) : -ENOMEM;

    if (r < 0)
        return r;
    bind_text(s, 1, text);
    (void)sqlite3_bind_int64(s, 2, (int64_t)id);
    return step(s);
}

static int amend(struct ledger *ledger, const struct cell_row *row)
{
    static const char *const names[CELL_TEXT_COUNT] = {
#define CELL_TEXT(name, max) [CELL_TEXT_##name] = #name,
#include "cell_texts.def"
#undef CELL_TEXT
    };
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = prepare(
        ledger, "UPDATE cell SET verdict=?, silent=?, arm=?, ended_ms=?, newest=1 WHERE id=?", &s);

    if (r < 0)
        return r;
    (void)sqlite3_bind_int(s, 1, (int)row->verdict);
    (void)sqlite3_bind_int(s, 2, row->silent);
    (void)sqlite3_bind_int(s, 3, (int)row->arm);
    (void)sqlite3_bind_int64(s, 4, row->ended_ms);
    (void)sqlite3_bind_int64(s, 5, (int64_t)row->id);
    r = step(s);
    for (int i = 0; r == 0 && i < CELL_TEXT_COUNT; i++) {
        if (row->texts[i])
            r = amend_text(ledger, row->id, names[i], row->texts[i]);
    }
    return r;
}

int ledger_cell_end(struct ledger *ledger, const struct cell_row *row)
{
    int r = ledger_begin_durable(ledger);

    if (r == 0)
        r = amend(ledger, row);
    if (r == 0)
        r = displace(ledger, row->id);
    return ledger_end_durable(ledger, r);
}

static int put_arm(struct ledger *ledger, const struct arm_row *row)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = prepare(ledger, "INSERT OR REPLACE INTO arm VALUES (?,?,?,?,?,?,?,?,?,?,?)", &s);

    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, (int64_t)row->cell);
    (void)sqlite3_bind_int(s, 2, (int)row->arm);
    (void)sqlite3_bind_int64(s, 3, (int64_t)row->leg);
    (void)sqlite3_bind_int(s, 4, (int)row->outcome);
    (void)sqlite3_bind_int(s, 5, row->status);
    (void)sqlite3_bind_int64(s, 6, row->begun_ms);
    (void)sqlite3_bind_int64(s, 7, row->ended_ms);
    for (int i = 0; i < ARM_TEXT_COUNT; i++)
        bind_text(s, 8 + i, row->texts[i]);
    return step(s);
}

int ledger_arm_put(struct ledger *ledger, const struct arm_row *row)
{
    int r = ledger_begin_durable(ledger);

    if (r == 0)
        r = put_arm(ledger, row);
    return ledger_end_durable(ledger, r);
}

/* ---- reading ---- */

static void fill_cell(sqlite3_stmt *s, struct cell_row *row)
{
    *row = (struct cell_row){.id = (uint64_t)sqlite3_column_int64(s, 0),
        .uid = (uint32_t)sqlite3_column_int64(s, 1),
        .verdict = (enum cell_verdict)sqlite3_column_int(s, 2),
        .silent = sqlite3_column_int(s, 3) != 0,
        .arm = (enum arm)sqlite3_column_int(s, 4),
        .newest = (uint32_t)sqlite3_column_int(s, 5),
        .begun_ms = sqlite3_column_int64(s, 6),
        .ended_ms = sqlite3_column_int64(s, 7)};
    for (int i = 0; i < CELL_TEXT_COUNT; i++)
        row->texts[i] = text_at(s, 8 + i);
}

static int read_cells(sqlite3_stmt *s, ledger_take_cell *take, void *context)
{
    int code;

    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        struct cell_row row;

        fill_cell(s, &row);
        if (!take(context, &row))
            return 0;
    }
    return ledger_error(code);
}

static int select_cells(struct ledger *ledger, const char *where, sqlite3_stmt **ret)
{
    auto_free char *sql =
        text_format("SELECT " CELL_COLUMNS "%s FROM cell %s", cell_text_columns, where);

    return sql ? prepare(ledger, sql, ret) : -ENOMEM;
}

int ledger_cells(struct ledger *ledger, bool history, const char *vendor, uint64_t after,
    ledger_take_cell *take, void *context)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = select_cells(ledger,
        history ? "WHERE id > ?1 AND (?2 = '' OR vendor = ?2) ORDER BY id"
                : "INDEXED BY cell_newest WHERE newest > 0 AND id > ?1 AND (?2 = '' OR vendor = "
                  "?2) ORDER BY id",
        &s);

    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, (int64_t)after);
    bind_text(s, 2, vendor);
    return read_cells(s, take, context);
}

int ledger_cell(struct ledger *ledger, uint64_t id, ledger_take_cell *take, void *context)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = select_cells(ledger, "WHERE id = ?", &s);

    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, (int64_t)id);
    return read_cells(s, take, context);
}

int ledger_cell_of(struct ledger *ledger, const char *vendor, const char *boundary,
    const char *sandbox, ledger_take_cell *take, void *context)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = select_cells(ledger,
        "INDEXED BY cell_kind WHERE newest > 0 AND newest = 1 AND vendor = ? AND boundary = ? AND"
        " sandbox = ? AND origin = '' ORDER BY id DESC LIMIT 1",
        &s);

    if (r < 0)
        return r;
    bind_text(s, 1, vendor);
    bind_text(s, 2, boundary);
    bind_text(s, 3, sandbox);
    return read_cells(s, take, context);
}

int ledger_cell_seen(struct ledger *ledger, const char *vendor, const char *boundary, bool *ret)
{
    sqlite3_stmt *s = ledger->statements[STATEMENT_CELL_SEEN];
    int code;

    bind_text(s, 1, vendor);
    bind_text(s, 2, boundary);
    code = sqlite3_step(s);
    *ret = code == SQLITE_ROW;
    (void)sqlite3_reset(s);
    return ledger_error(code);
}

int ledger_newest_version(struct ledger *ledger, const char *vendor, char *out, size_t size)
{
    sqlite3_stmt *s = ledger->statements[STATEMENT_CELL_VERSION];
    int code;

    bind_text(s, 1, vendor);
    code = sqlite3_step(s);
    copy(out, size, code == SQLITE_ROW ? text_at(s, 0) : "");
    (void)sqlite3_reset(s);
    return ledger_error(code);
}

int ledger_arms(struct ledger *ledger, uint64_t cell, ledger_take_arm *take, void *context)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int code, r = prepare(ledger,
                  "SELECT cell, arm, leg, outcome, status, begun_ms, ended_ms, command, detail,"
                  " output, events FROM arm WHERE cell=? ORDER BY arm",
                  &s);

    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, (int64_t)cell);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        struct arm_row row = {.cell = (uint64_t)sqlite3_column_int64(s, 0),
            .arm = (enum arm)sqlite3_column_int(s, 1),
            .leg = (uint64_t)sqlite3_column_int64(s, 2),
            .outcome = (enum arm_outcome)sqlite3_column_int(s, 3),
            .status = sqlite3_column_int(s, 4),
            .begun_ms = sqlite3_column_int64(s, 5),
            .ended_ms = sqlite3_column_int64(s, 6)};

        for (int i = 0; i < ARM_TEXT_COUNT; i++)
            row.texts[i] = text_at(s, 7 + i);
        if (!take(context, &row))
            return 0;
    }
    return ledger_error(code);
}

/* ---- a leg that was an arm ---- */

static int read_leg(struct ledger *ledger, uint64_t leg, struct arm_leg_row *out)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int code, r = prepare(ledger,
                  "SELECT uid, boundary, vendor, asked_ms, ended_ms, wall_us, colour, wait_status,"
                  " claims FROM leg WHERE id=?",
                  &s);

    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, (int64_t)leg);
    code = sqlite3_step(s);
    if (code != SQLITE_ROW)
        return code == SQLITE_DONE ? -ENOENT : ledger_error(code);
    out->uid = (uint32_t)sqlite3_column_int64(s, 0);
    out->boundary = (enum boundary)sqlite3_column_int(s, 1);
    copy(out->vendor, sizeof(out->vendor), text_at(s, 2));
    out->asked_ms = sqlite3_column_int64(s, 3);
    out->ended_ms = sqlite3_column_int64(s, 4);
    out->wall_us = sqlite3_column_int64(s, 5);
    out->facts.colour = (enum colour)sqlite3_column_int(s, 6);
    out->facts.wait_status = sqlite3_column_int(s, 7);
    copy(out->claims, sizeof(out->claims), text_at(s, 8));
    return 0;
}

static int read_leg_reasons(struct ledger *ledger, uint64_t leg, struct arm_leg_row *out)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int code, r = prepare(ledger, "SELECT slug, detail FROM reason WHERE leg=? ORDER BY n", &s);

    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, (int64_t)leg);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        enum reason reason = REASON_NONE;

        (void)reason_parse(text_at(s, 0), &reason);
        if (out->facts.n_reasons < array_size(out->facts.reasons))
            out->facts.reasons[out->facts.n_reasons++] = reason;
        if (!out->reason[0])
            (void)snprintf(out->reason, sizeof(out->reason), "%s%s%s", text_at(s, 0),
                *text_at(s, 1) ? ": " : "", text_at(s, 1));
        if (reason == REASON_NESTED_SANDBOX)
            copy(out->nested, sizeof(out->nested), text_at(s, 1));
    }
    return ledger_error(code);
}

/* The notes of a measuring leg: cells_note_leg(). */
static bool take_note(struct arm_leg_row *out, const char *subject, const char *detail)
{
    uint64_t number;

    if (text_equal(subject, "measured-cpu") && text_parse_uint(detail, INT64_MAX, &number) == 0)
        out->cpu_us = (int64_t)number;
    else if (text_equal(subject, "measured-sandbox"))
        copy(out->sandbox, sizeof(out->sandbox), detail);
    else if (text_equal(subject, "measured-program"))
        copy(out->identity, sizeof(out->identity), detail);
    else if (text_equal(subject, "measured-sha256"))
        copy(out->sha256, sizeof(out->sha256), detail);
    else if (text_equal(subject, "measured-version"))
        copy(out->version, sizeof(out->version), detail);
    else
        return false;
    return true;
}

static int read_leg_events(struct ledger *ledger, uint64_t leg, struct arm_leg_row *out)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    size_t at = 0;
    int code,
        r = prepare(ledger,
            "SELECT kind, reason, a, b, subject, detail FROM event WHERE leg=? ORDER BY rowid", &s);

    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, (int64_t)leg);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        int kind = sqlite3_column_int(s, 0);
        const char *subject = text_at(s, 4), *detail = text_at(s, 5);

        if (kind == EVENT_NOTE && take_note(out, subject, detail))
            continue;
        if (kind == EVENT_DENIED) {
            out->refused_calls += (uint64_t)sqlite3_column_int64(s, 2);
            if (!out->denial[0])
                (void)snprintf(out->denial, sizeof(out->denial), "%s %s", subject, detail);
        }
        if ((kind == EVENT_DENIED || kind == EVENT_NOTE || kind == EVENT_ARTEFACT) &&
            at + 1 < sizeof(out->events))
            at += (size_t)snprintf(out->events + at, sizeof(out->events) - at, "%s%s%s %s %s%s%s",
                at ? "\n" : "",
                kind == EVENT_DENIED ? "denied "
                : kind == EVENT_NOTE ? "note "
                                     : "artefact ",
                text_at(s, 1), subject, detail, kind == EVENT_DENIED ? " x" : "",
                kind == EVENT_DENIED ? text_at(s, 2) : "");
    }
    return ledger_error(code);
}

int ledger_arm_leg(struct ledger *ledger, uint64_t leg, struct arm_leg_row *ret)
{
    int r;

    memset(ret, 0, sizeof(*ret));
    ret->cpu_us = -1;
    r = read_leg(ledger, leg, ret);
    if (r == 0)
        r = read_leg_reasons(ledger, leg, ret);
    return r == 0 ? read_leg_events(ledger, leg, ret) : r;
}
