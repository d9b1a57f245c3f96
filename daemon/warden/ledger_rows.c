/* ledger_rows.c - reading the ledger, and what the sweep and the pruning do to it. */
#include "ledger.h"

#include "ledger_private.h"
#include "ledger_statement.h"
#include "log.h"
#include "text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *column_text(sqlite3_stmt *s, int column)
{
    return (const char *)sqlite3_column_text(s, column);
}

/* ---- notes ---- */

/* For a question that has one answer at most. */
static int only_row(sqlite3_stmt *s)
{
    int code = sqlite3_step(s);

    return code == SQLITE_DONE ? -ENOENT : code != SQLITE_ROW ? ledger_error(code) : 0;
}

int ledger_note(struct ledger *ledger, const char *key, const char *value)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = prepare(ledger, "INSERT OR REPLACE INTO note VALUES (?,?)", &s);

    if (r < 0)
        return r;
    (void)sqlite3_bind_text(s, 1, key, -1, SQLITE_TRANSIENT);
    (void)sqlite3_bind_text(s, 2, value, -1, SQLITE_TRANSIENT);
    return ledger_error(sqlite3_step(s));
}

int ledger_noted(struct ledger *ledger, const char *key, char **ret_value)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = prepare(ledger, "SELECT value FROM note WHERE key=?", &s);

    if (r < 0)
        return r;
    (void)sqlite3_bind_text(s, 1, key, -1, SQLITE_TRANSIENT);
    r = only_row(s);
    if (r < 0)
        return r;
    *ret_value = strdup(column_text(s, 0));
    return *ret_value ? 0 : -ENOMEM;
}

/* ---- the boundary ---- */

int ledger_boundary(struct ledger *ledger, uint64_t leg, char **ret_lines, size_t *ret_size)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = prepare(ledger, "SELECT areas FROM boundary WHERE leg=?", &s);
    char *lines;
    size_t size;

    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, (int64_t)leg);
    r = only_row(s);
    if (r < 0)
        return r;
    size = (size_t)sqlite3_column_bytes(s, 0);
    lines = malloc(size + 1);
    if (!lines)
        return -ENOMEM;
    if (size > 0)
        memcpy(lines, sqlite3_column_blob(s, 0), size);
    lines[size] = '\0';
    *ret_lines = lines;
    *ret_size = size;
    return 0;
}

/* ---- rows as messages ---- */

#define LEG_COLUMNS                                                                                \
    "SELECT id, uid, gid, user, vendor, boundary, view, net, directory, argv, grants, detach,"     \
    " tasks, memory, cpu_percent, wall_ms, output, files, asked_ms, ended_ms, colour,"             \
    " wait_status, client_status,"                                                                 \
    " (SELECT group_concat(slug, ',') FROM reason WHERE reason.leg = leg.id), wall_us, claims,"    \
    " kept FROM leg "

static struct seam_list put_blob_list(struct seam_writer *writer, sqlite3_stmt *s, int column)
{
    const char *blob = sqlite3_column_blob(s, column);
    size_t size = (size_t)sqlite3_column_bytes(s, column), count = 0;
    const char *strings[512];

    for (size_t at = 0; blob && at < size && count < array_size(strings);) {
        size_t length = strnlen(blob + at, size - at);

        if (at + length == size)
            break; /* not terminated: not written by us */
        strings[count++] = blob + at;
        at += length + 1;
    }
    return seam_put_list(writer, strings, count);
}

static void fill_leg(sqlite3_stmt *s, struct seam_writer *writer, struct seam_leg *out)
{
    uint64_t *const limits[] = {&out->limits.tasks, &out->limits.memory, &out->limits.cpu_percent,
        &out->limits.wall_ms, &out->limits.output, &out->limits.files};

    memset(out, 0, sizeof(*out));
    out->leg = (uint64_t)sqlite3_column_int64(s, 0);
    out->uid = (uint32_t)sqlite3_column_int64(s, 1);
    out->gid = (uint32_t)sqlite3_column_int64(s, 2);
    out->user = seam_put_text(writer, column_text(s, 3));
    out->vendor = seam_put_text(writer, column_text(s, 4));
    out->boundary = (uint32_t)sqlite3_column_int(s, 5);
    out->view = (uint32_t)sqlite3_column_int(s, 6);
    out->net = (uint32_t)sqlite3_column_int(s, 7);
    out->directory = seam_put_text(writer, column_text(s, 8));
    out->argv = put_blob_list(writer, s, 9);
    out->grants = put_blob_list(writer, s, 10);
    out->detach = (uint32_t)sqlite3_column_int(s, 11);
    for (int i = 0; i < (int)array_size(limits); i++)
        *limits[i] = (uint64_t)sqlite3_column_int64(s, 12 + i);
    out->asked_ms = sqlite3_column_int64(s, 18);
    out->ended_ms = sqlite3_column_int64(s, 19);
    out->state = out->ended_ms ? LEG_ENDED : LEG_RUNNING;
    out->colour = (uint32_t)sqlite3_column_int(s, 20);
    out->wait_status = sqlite3_column_int(s, 21);
    out->client_status = sqlite3_column_int(s, 22);
    out->reasons = seam_put_text(writer, column_text(s, 23));
}

static bool take_leg(sqlite3_stmt *s, ledger_take *take, void *context)
{
    struct seam_writer writer;
    struct seam_leg out;

    seam_writer_init(&writer, SEAM_LEG, 0);
    fill_leg(s, &writer, &out);
    return take(context, SEAM_LEG, &writer, &out);
}

static void bind_owner(sqlite3_stmt *s, uint32_t owner, bool all)
{
    (void)sqlite3_bind_int64(s, 1, owner == UINT32_MAX ? -1 : (int64_t)owner);
    (void)sqlite3_bind_int(s, 2, all);
}

int ledger_legs_begin(struct ledger *ledger, uint32_t owner, bool all, int64_t *ret_after)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = prepare(ledger,
        "SELECT ifnull(min(id), 1) - 1 FROM (SELECT id FROM leg WHERE (?1 < 0 OR uid = ?1) AND"
        " (?2 OR ended_ms = 0) ORDER BY id DESC LIMIT ?3)",
        &s);

    if (r < 0)
        return r;
    bind_owner(s, owner, all);
    (void)sqlite3_bind_int(s, 3, LEDGER_LEGS_MAX);
    r = only_row(s);
    if (r == 0)
        *ret_after = sqlite3_column_int64(s, 0);
    return r;
}

int ledger_legs(struct ledger *ledger, uint32_t owner, bool all, int most, int64_t *after,
    ledger_take *take, void *context)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int code, count = 0, r;

    r = prepare(ledger,
        LEG_COLUMNS "WHERE id > ?3 AND (?1 < 0 OR uid = ?1) AND (?2 OR ended_ms = 0) ORDER BY id"
                    " LIMIT ?4",
        &s);
    if (r < 0)
        return r;
    bind_owner(s, owner, all);
    (void)sqlite3_bind_int64(s, 3, *after);
    (void)sqlite3_bind_int(s, 4, most);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        *after = sqlite3_column_int64(s, 0);
        count++;
        if (!take_leg(s, take, context))
            return count;
    }
    r = ledger_error(code);
    return r < 0 ? r : count;
}

static bool take_event(sqlite3_stmt *s, uint64_t leg, ledger_take *take, void *context)
{
    struct seam_event out = {.leg = leg,
        .at_ms = sqlite3_column_int64(s, 0),
        .kind = (uint32_t)sqlite3_column_int(s, 1),
        .a = sqlite3_column_int64(s, 3),
        .b = sqlite3_column_int64(s, 4),
        .c = sqlite3_column_int64(s, 5)};
    enum reason reason = REASON_NONE;
    struct seam_writer writer;

    if (column_text(s, 2))
        (void)reason_parse(column_text(s, 2), &reason);
    out.reason = reason;
    seam_writer_init(&writer, SEAM_EVENT, 0);
    out.subject = seam_put_text(&writer, column_text(s, 6));
    out.detail = seam_put_text(&writer, column_text(s, 7));
    return take(context, SEAM_EVENT, &writer, &out);
}

int ledger_events(
    struct ledger *ledger, uint64_t leg, int most, int64_t *after, ledger_take *take, void *context)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int code, count = 0, r;

    r = prepare(ledger,
        "SELECT at_ms, kind, reason, a, b, c, subject, detail, rowid FROM event"
        " WHERE leg=? AND rowid > ? ORDER BY rowid LIMIT ?",
        &s);
    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, (int64_t)leg);
    (void)sqlite3_bind_int64(s, 2, *after);
    (void)sqlite3_bind_int(s, 3, most);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        *after = sqlite3_column_int64(s, 8);
        count++;
        if (!take_event(s, leg, take, context))
            return count;
    }
    r = ledger_error(code);
    return r < 0 ? r : count;
}

/* "slug=rung+rung slug=..." back into bits; a word that this version does not know is left out. */
static void read_claims(const char *text, struct seam_verdict *out)
{
    auto_free char *copy = strdup(text ? text : "");
    char *word, *rest;

    for (word = copy ? strtok_r(copy, " ", &rest) : NULL; word && out->n_claims < CLAIM_COUNT;
         word = strtok_r(NULL, " ", &rest)) {
        char *rungs = strchr(word, '='), *rung, *more;

        if (!rungs)
            continue;
        *rungs++ = '\0';
        for (uint32_t i = 0; i < CLAIM_COUNT; i++) {
            if (text_equal(word, claim_slug((enum claim_id)i)))
                out->claims[out->n_claims].claim = i;
        }
        for (rung = strtok_r(rungs, "+", &more); rung; rung = strtok_r(NULL, "+", &more)) {
            enum rung_id id;

            if (rung_parse(rung, &id) == 0)
                out->claims[out->n_claims].rungs |= 1ULL << id;
        }
        out->n_claims++;
    }
}

static int read_reasons(
    struct ledger *ledger, uint64_t leg, struct seam_writer *writer, struct seam_verdict *out)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int code, r = prepare(ledger, "SELECT slug, detail FROM reason WHERE leg=? ORDER BY n", &s);

    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, (int64_t)leg);
    while ((code = sqlite3_step(s)) == SQLITE_ROW && out->n_reasons < VERDICT_REASONS_MAX) {
        enum reason reason = REASON_NONE;

        (void)reason_parse(column_text(s, 0), &reason);
        out->reasons[out->n_reasons].reason = reason;
        out->reasons[out->n_reasons++].detail = seam_put_text(writer, column_text(s, 1));
    }
    return ledger_error(code);
}

static int take_verdict(struct ledger *ledger, sqlite3_stmt *s, ledger_take *take, void *context)
{
    struct seam_verdict out = {.leg = (uint64_t)sqlite3_column_int64(s, 0),
        .colour = (uint32_t)sqlite3_column_int(s, 20),
        .wait_status = sqlite3_column_int(s, 21),
        .client_status = sqlite3_column_int(s, 22),
        .wall_us = sqlite3_column_int64(s, 24),
        .egress_cut = sqlite3_column_int(s, 7) == NET_NONE};
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, SEAM_VERDICT, 0);
    read_claims(column_text(s, 25), &out);
    r = read_reasons(ledger, out.leg, &writer, &out);
    if (r < 0) {
        seam_writer_done(&writer);
        return r;
    }
    out.kept = seam_put_text(&writer, column_text(s, 26));
    (void)take(context, SEAM_VERDICT, &writer, &out);
    return 0;
}

static int find_leg(struct ledger *ledger, uint64_t leg, sqlite3_stmt **ret)
{
    int r = prepare(ledger, LEG_COLUMNS "WHERE id=?", ret);

    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(*ret, 1, (int64_t)leg);
    return only_row(*ret);
}

int ledger_leg(struct ledger *ledger, uint64_t leg, ledger_take *take, void *context)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = find_leg(ledger, leg, &s);

    if (r == 0)
        (void)take_leg(s, take, context);
    return r;
}

int ledger_verdict(struct ledger *ledger, uint64_t leg, ledger_take *take, void *context)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = find_leg(ledger, leg, &s);

    return r == 0 && sqlite3_column_int64(s, 19) != 0 ? take_verdict(ledger, s, take, context) : r;
}

static int read_number(struct ledger *ledger, const char *sql, uint64_t argument, int64_t *ret)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = prepare(ledger, sql, &s);

    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, (int64_t)argument);
    r = only_row(s);
    if (r < 0)
        return r;
    *ret = sqlite3_column_int64(s, 0);
    return 0;
}

int ledger_owner(struct ledger *ledger, uint64_t leg, uint32_t *ret_uid)
{
    int64_t uid;
    int r = read_number(ledger, "SELECT uid FROM leg WHERE id=?", leg, &uid);

    if (r == 0)
        *ret_uid = (uint32_t)uid;
    return r;
}

uint64_t ledger_next_leg(struct ledger *ledger)
{
    int64_t last = 0;

    (void)read_number(ledger, "SELECT coalesce(max(id), 0) FROM leg WHERE id > ?", 0, &last);
    return (uint64_t)last + 1;
}

/* ---- the sweep ---- */

int ledger_sweep_intents(
    struct ledger *ledger, int (*each)(void *context, const struct ledger_intent *), void *context)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int code, r;

    r = prepare(ledger,
        "SELECT leg, uid, gid, dev, ino, directory, path, rowid FROM intent ORDER BY rowid DESC",
        &s);
    if (r < 0)
        return r;
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        struct ledger_intent intent = {.leg = (uint64_t)sqlite3_column_int64(s, 0),
            .uid = (uint32_t)sqlite3_column_int64(s, 1),
            .gid = (uint32_t)sqlite3_column_int64(s, 2),
            .dev = (uint64_t)sqlite3_column_int64(s, 3),
            .ino = (uint64_t)sqlite3_column_int64(s, 4),
            .directory = column_text(s, 5),
            .path = column_text(s, 6)};
        int64_t ignored;

        if (each(context, &intent) == 0)
            (void)read_number(ledger, "DELETE FROM intent WHERE rowid=? RETURNING rowid",
                (uint64_t)sqlite3_column_int64(s, 7), &ignored);
    }
    return ledger_error(code);
}

int ledger_sweep_legs(struct ledger *ledger)
{
    char sql[512];
    int code;

    (void)snprintf(sql, sizeof(sql),
        "BEGIN; INSERT OR REPLACE INTO reason SELECT id, 0, '%s', NULL FROM leg WHERE ended_ms = 0;"
        "UPDATE leg SET colour=%d, client_status=125, ended_ms=max(asked_ms,"
        " CAST(strftime('%%s','now') AS INTEGER) * 1000) WHERE ended_ms = 0; COMMIT;",
        reason_entry(REASON_DAEMON_DIED)->slug, COLOUR_INDETERMINATE);
    code = sqlite3_exec(ledger->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? sqlite3_changes(ledger->db) : ledger_error(code);
}

int ledger_prune(struct ledger *ledger, uint64_t keep, void (*forget)(void *context, uint64_t leg),
    void *context)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int code, r;

    r = prepare(ledger,
        "DELETE FROM leg WHERE ended_ms != 0 AND id <= (SELECT max(id) FROM leg) - ? RETURNING id",
        &s);
    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, (int64_t)keep);
    while ((code = sqlite3_step(s)) == SQLITE_ROW)
        forget(context, (uint64_t)sqlite3_column_int64(s, 0));
    if (code != SQLITE_DONE)
        return ledger_error(code);
    code = sqlite3_exec(ledger->db,
        "DELETE FROM event WHERE leg NOT IN (SELECT id FROM leg);"
        "DELETE FROM reason WHERE leg NOT IN (SELECT id FROM leg);"
        "DELETE FROM boundary WHERE leg NOT IN (SELECT id FROM leg);",
        NULL, NULL, NULL);
    return ledger_error(code);
}
