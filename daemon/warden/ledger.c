/* ledger.c - opening, and writing what happens. */
#include "ledger.h"

#include "areas.h"
#include "clock.h"
#include "ledger_private.h"
#include "ledger_schema.h"
#include "leg_image.h"
#include "log.h"
#include "text.h"
#include "verdicts.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Of what a leg can cause without end; each by itself, so that one cannot push the other out. */
#define DENIALS_PER_LEG 1000
#define CONNECTIONS_PER_LEG 20000 /* their events: two each */

static const char *const statements[STATEMENT_COUNT] = {
    [STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
    [STATEMENT_COMMIT] = "COMMIT",
    [STATEMENT_FULL] = "PRAGMA synchronous=FULL",
    [STATEMENT_NORMAL] = "PRAGMA synchronous=NORMAL",
    [STATEMENT_LEG] =
        ("INSERT INTO leg (id, uid, gid, user, vendor, boundary, view, net, directory,"
         " argv, grants, detach, tasks, memory, cpu_percent, wall_ms, output, files,"
         " rule, claims, asked_ms)"
         " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
    [STATEMENT_LEG_IMAGE] = "INSERT INTO leg_image VALUES (?,?,?)",
    [STATEMENT_INTENT] = "INSERT INTO intent VALUES (?,?,?,?,?,?,?)",
    [STATEMENT_BOUNDARY] = "INSERT INTO boundary VALUES (?,?)",
    [STATEMENT_BOUNDARY_ADD] = "UPDATE boundary SET areas = CAST(areas || ? AS BLOB) WHERE leg=?",
    [STATEMENT_EVENT] = "INSERT INTO event VALUES (?,?,?,?,?,?,?,?,?)",
    [STATEMENT_REASON] = "INSERT OR REPLACE INTO reason VALUES (?,?,?,?)",
    [STATEMENT_END] = ("UPDATE leg SET ended_ms=?, colour=?, wait_status=?, client_status=?,"
                       " wall_us=?, kept=? WHERE id=?"),
    [STATEMENT_FORGET_INTENTS] = "DELETE FROM intent WHERE leg=?",
    /* Both are answered from an index alone, for they are asked for each row that is shown. */
    [STATEMENT_CELL_SEEN] = ("SELECT 1 FROM cell INDEXED BY cell_kind WHERE newest > 0 AND"
                             " newest = 1 AND vendor = ? AND boundary = ? AND origin = '' LIMIT 1"),
    [STATEMENT_CELL_VERSION] = ("SELECT vendor_version FROM cell INDEXED BY cell_version WHERE"
                                " newest > 0 AND origin = '' AND vendor_version != '' AND"
                                " vendor = ? ORDER BY id DESC LIMIT 1"),
};

/* ---- errors and statements ---- */

int ledger_error(int code)
{
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_DONE:
    case SQLITE_ROW:
        return 0;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    default:
        return -EIO;
    }
}

int ledger_run(struct ledger *ledger, enum ledger_statement number)
{
    sqlite3_stmt *statement = ledger->statements[number];
    int code = sqlite3_step(statement);

    (void)sqlite3_reset(statement);
    return ledger_error(code);
}

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    if (text)
        (void)sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
    else
        (void)sqlite3_bind_null(statement, at);
}

static void bind_number(sqlite3_stmt *statement, int at, int64_t value)
{
    (void)sqlite3_bind_int64(statement, at, value);
}

/* ---- transactions: events wait in an open one, every row's commit takes them along ---- */

int ledger_start(struct ledger *ledger)
{
    int r;

    if (ledger->open)
        return 0;
    r = ledger_run(ledger, STATEMENT_BEGIN);
    ledger->open = r == 0;
    return r;
}

void ledger_roll_back(struct ledger *ledger)
{
    (void)sqlite3_exec(ledger->db, "ROLLBACK", NULL, NULL, NULL);
    ledger->open = false;
}

int ledger_commit(struct ledger *ledger)
{
    int r;

    if (!ledger->open)
        return 0;
    r = ledger_run(ledger, STATEMENT_COMMIT);
    if (r < 0)
        ledger_roll_back(ledger);
    ledger->open = false;
    return r;
}

/* Switches to a durable commit for the transaction that follows; it cannot be switched inside one.
 */
static int begin_durable(struct ledger *ledger)
{
    int r = ledger_commit(ledger);

    if (r == 0)
        r = ledger_run(ledger, STATEMENT_FULL);
    return r == 0 ? ledger_start(ledger) : r;
}

static int commit_durable(struct ledger *ledger)
{
    int r = ledger_commit(ledger), s = ledger_run(ledger, STATEMENT_NORMAL);

    return r < 0 ? r : s;
}

static void commit_later(evutil_socket_t fd, short what, void *context)
{
    struct ledger *ledger = context;
    int r = ledger_commit(ledger);

    if (r < 0)
        log_error("ledger: events could not be written: %s", strerror(-r));
}

/* ---- opening ---- */

static int set_up(struct ledger *ledger, const char *path)
{
    static const char settings[] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                                   "PRAGMA foreign_keys=OFF; PRAGMA trusted_schema=OFF;";
    int code;

    code = sqlite3_open_v2(
        path, &ledger->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(ledger->db, settings, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(ledger->db, ledger_schema, NULL, NULL, NULL);
    for (size_t i = 0; code == SQLITE_OK && i < STATEMENT_COUNT; i++)
        code = sqlite3_prepare_v3(
            ledger->db, statements[i], -1, SQLITE_PREPARE_PERSISTENT, &ledger->statements[i], NULL);
    if (code != SQLITE_OK) {
        log_error("ledger %s: %s", path, ledger->db ? sqlite3_errmsg(ledger->db) : "memory");
        return ledger_error(code);
    }
    return 0;
}

static int check_version(struct ledger *ledger)
{
    auto_free char *version = NULL, *ours = text_format("%d", LEDGER_VERSION);
    int r = ledger_noted(ledger, "version", &version);

    if (!ours)
        return -ENOMEM;
    if (r == -ENOENT)
        return ledger_note(ledger, "version", ours);
    if (r < 0)
        return r;
    if (text_equal(version, ours))
        return 0;
    log_error("ledger: it is of version %s and this saphand writes version %s: move it away, or "
              "use the saphand that wrote it",
        version, ours);
    return -EPROTO;
}

int ledger_open(struct warden *warden, struct ledger **ret)
{
    auto_free char *path = text_format("%s/ledger.db", warden->options.state);
    struct ledger *ledger = calloc(1, sizeof(*ledger));
    int r;

    if (!ledger || !path) {
        free(ledger);
        return -ENOMEM;
    }
    r = set_up(ledger, path);
    if (r == 0)
        r = check_version(ledger);
    if (r == 0) {
        ledger->later = evtimer_new(warden->loop, commit_later, ledger);
        r = ledger->later ? ledger_ends_open(ledger, warden->loop) : -ENOMEM;
    }
    if (r < 0) {
        ledger_close(ledger);
        return r;
    }
    *ret = ledger;
    return 0;
}

void ledger_close(struct ledger *ledger)
{
    if (!ledger)
        return;
    if (ledger->db)
        (void)ledger_commit(ledger);
    ledger_ends_close(ledger);
    for (size_t i = 0; i < STATEMENT_COUNT; i++)
        (void)sqlite3_finalize(ledger->statements[i]);
    (void)sqlite3_close(ledger->db);
    if (ledger->later)
        event_free(ledger->later);
    free(ledger);
}

/* ---- the row ---- */

static char *join_claims(const struct decision *decision)
{
    char text[4096] = "";
    size_t at = 0;

    for (uint32_t i = 0; i < decision->n_claims; i++) {
        const char *before = "=";

        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i ? " " : "",
            claim_slug(decision->claims[i].claim));
        for (uint32_t rung = 0; rung < RUNG_COUNT; rung++) {
            if (!(decision->claims[i].rungs & 1ULL << rung))
                continue;
            at += (size_t)snprintf(
                text + at, sizeof(text) - at, "%s%s", before, rung_slug((enum rung_id)rung));
            before = "+";
        }
    }
    return strdup(text);
}

static int bind_argv(sqlite3_stmt *statement, int at, const struct leg *leg)
{
    auto_free char *text = NULL;
    size_t size = 0, used = 0;

    for (uint32_t i = 0; i < leg->argc; i++)
        size += strlen(leg->argv[i]) + 1;
    text = malloc(size + 1);
    if (!text)
        return -ENOMEM;
    for (uint32_t i = 0; i < leg->argc; i++) {
        memcpy(text + used, leg->argv[i], strlen(leg->argv[i]) + 1);
        used += strlen(leg->argv[i]) + 1;
    }
    (void)sqlite3_bind_blob(statement, at, text, (int)used, SQLITE_TRANSIENT);
    return 0;
}

static int bind_grants(sqlite3_stmt *statement, int at, const struct leg *leg)
{
    size_t size = 0, used = 0;
    auto_free char *text = NULL;

    for (uint32_t i = 0; i < leg->request.n_grants; i++)
        size += strlen(leg->grant_paths[i]) + strlen(grant_place(&leg->request.grants[i])) + 20;
    text = malloc(size + 1);
    if (!text)
        return -ENOMEM;
    for (uint32_t i = 0; i < leg->request.n_grants; i++) {
        const struct grant *grant = &leg->request.grants[i];

        used += (size_t)snprintf(text + used, size + 1 - used, "%s %s%s%s",
                    grant_kind_name(grant->kind), leg->grant_paths[i], grant->target ? ":" : "",
                    grant->target ? grant->target : "") +
                1;
    }
    (void)sqlite3_bind_blob(statement, at, text, (int)used, SQLITE_TRANSIENT);
    return 0;
}

static void bind_limits(sqlite3_stmt *statement, int at, const struct limits *limits)
{
    for (int i = 0; i < LIMIT_COUNT; i++)
        bind_number(statement, at + i, (int64_t)limits_get(limits, (enum limit_id)i));
}

static int insert_leg(struct ledger *ledger, const struct leg *leg)
{
    sqlite3_stmt *s = ledger->statements[STATEMENT_LEG];
    auto_free char *claims = join_claims(&leg->decision);
    const char *vendor = leg->request.vendor;

    bind_number(s, 1, (int64_t)leg->id);
    bind_number(s, 2, leg->peer.uid);
    bind_number(s, 3, leg->peer.gid);
    bind_text(s, 4, leg->user);
    bind_text(s, 5, vendor && *vendor ? vendor : "proc");
    bind_number(s, 6, leg->decision.boundary);
    bind_number(s, 7, leg->decision.view);
    bind_number(s, 8, leg->decision.net);
    bind_text(s, 9, leg->decision.directory);
    if (bind_argv(s, 10, leg) < 0)
        return -ENOMEM;
    if (bind_grants(s, 11, leg) < 0)
        return -ENOMEM;
    bind_number(s, 12, leg->request.detach);
    bind_limits(s, 13, &leg->decision.limits);
    bind_text(s, 19, leg->rule_name);
    bind_text(s, 20, claims);
    bind_number(s, 21, leg->asked_ms);
    return ledger_run(ledger, STATEMENT_LEG);
}

static int insert_boundary(struct ledger *ledger, const struct leg *leg)
{
    sqlite3_stmt *s = ledger->statements[STATEMENT_BOUNDARY];
    auto_free char *lines = NULL;
    size_t size;
    int r = areas_write(leg, &lines, &size);

    if (r < 0)
        return r;
    bind_number(s, 1, (int64_t)leg->id);
    (void)sqlite3_bind_blob(s, 2, lines, (int)size, SQLITE_TRANSIENT);
    return ledger_run(ledger, STATEMENT_BOUNDARY);
}

/* Like an event: the next commit takes it along. */
void ledger_boundary_add(struct ledger *ledger, uint64_t leg, const char *lines, size_t size)
{
    static const struct timeval soon = {.tv_usec = 100000};
    sqlite3_stmt *s = ledger->statements[STATEMENT_BOUNDARY_ADD];

    if (ledger_start(ledger) < 0)
        return;
    (void)sqlite3_bind_blob(s, 1, lines, (int)size, SQLITE_TRANSIENT);
    bind_number(s, 2, (int64_t)leg);
    if (ledger_run(ledger, STATEMENT_BOUNDARY_ADD) < 0)
        log_error(
            "ledger: what links of leg %llu lead to could not be written", (unsigned long long)leg);
    (void)event_add(ledger->later, &soon);
}

static int insert_intents(struct ledger *ledger, const struct leg *leg)
{
    sqlite3_stmt *s = ledger->statements[STATEMENT_INTENT];

    for (uint32_t i = 0; i < leg->decision.n_carve_outs; i++) {
        const struct carve_out *carve_out = &leg->decision.carve_outs[i];
        int r;

        if (carve_out->kind == CARVE_OUT_IF_PRESENT)
            continue;
        bind_number(s, 1, (int64_t)leg->id);
        bind_number(s, 2, leg->peer.uid);
        bind_number(s, 3, leg->peer.gid);
        bind_number(s, 4, (int64_t)leg->grant_dev[carve_out->grant]);
        bind_number(s, 5, (int64_t)leg->grant_ino[carve_out->grant]);
        bind_text(s, 6, leg->grant_paths[carve_out->grant]);
        bind_text(s, 7, carve_out->path);
        r = ledger_run(ledger, STATEMENT_INTENT);
        if (r < 0)
            return r;
    }
    return 0;
}

int ledger_begin_durable(struct ledger *ledger)
{
    return begin_durable(ledger);
}

int ledger_end_durable(struct ledger *ledger, int r)
{
    if (r == 0)
        return commit_durable(ledger);
    ledger_roll_back(ledger);
    (void)ledger_run(ledger, STATEMENT_NORMAL);
    return r;
}

static int insert_image(struct ledger *ledger, const struct leg *leg)
{
    sqlite3_stmt *s = ledger->statements[STATEMENT_LEG_IMAGE];
    char digest[65];

    if (!leg->image)
        return 0;
    text_format_sha256(leg->image->record.digest, digest);
    bind_number(s, 1, (int64_t)leg->id);
    bind_text(s, 2, leg->image->record.name);
    bind_text(s, 3, digest);
    return ledger_run(ledger, STATEMENT_LEG_IMAGE);
}

static int insert_all_of(struct ledger *ledger, const struct leg *leg)
{
    int r = insert_leg(ledger, leg);

    if (r == 0)
        r = insert_image(ledger, leg);
    if (r == 0)
        r = insert_boundary(ledger, leg);
    return r == 0 ? insert_intents(ledger, leg) : r;
}

int ledger_begin(struct ledger *ledger, const struct leg_list *rows)
{
    const struct leg *leg;
    int r = begin_durable(ledger);

    TAILQ_FOREACH(leg, rows, row_entry)
    {
        if (r == 0)
            r = insert_all_of(ledger, leg);
    }
    return ledger_end_durable(ledger, r);
}

/* ---- events and amendments ---- */

enum { RECORDED, LEFT_OUT, LEFT_OUT_FROM_NOW };

static int bound_event(struct event_counts *counts, const struct seam_event *event)
{
    uint64_t number, most;

    switch (event->kind) {
    case EVENT_DENIED:
        number = ++counts->denials;
        most = DENIALS_PER_LEG;
        break;
    case EVENT_CONNECTED:
    case EVENT_DISCONNECTED:
        number = ++counts->connections;
        most = CONNECTIONS_PER_LEG;
        break;
    default: /* the end of a leg is always told, however much it was told before */
        return RECORDED;
    }
    return number <= most ? RECORDED : number == most + 1 ? LEFT_OUT_FROM_NOW : LEFT_OUT;
}

void ledger_event(struct ledger *ledger, const struct seam_event *event,
    struct event_counts *counts, const char *subject, const char *detail)
{
    static const struct timeval soon = {.tv_usec = 100000};
    sqlite3_stmt *s = ledger->statements[STATEMENT_EVENT];
    struct seam_event note = {.leg = event->leg, .at_ms = event->at_ms, .kind = EVENT_NOTE};
    int bound = bound_event(counts, event);

    if (bound == LEFT_OUT)
        return;
    if (bound == LEFT_OUT_FROM_NOW) {
        subject = NULL;
        detail = event->kind == EVENT_DENIED ? "further denials of this leg are not recorded"
                                             : "further connections of this leg are not recorded";
        event = &note;
    }
    if (ledger_start(ledger) < 0)
        return;
    bind_number(s, 1, (int64_t)event->leg);
    bind_number(s, 2, event->at_ms);
    bind_number(s, 3, event->kind);
    bind_text(s, 4, event->reason ? reason_entry(event->reason)->slug : NULL);
    bind_number(s, 5, event->a);
    bind_number(s, 6, event->b);
    bind_number(s, 7, event->c);
    bind_text(s, 8, subject);
    bind_text(s, 9, detail);
    if (ledger_run(ledger, STATEMENT_EVENT) < 0)
        log_error(
            "ledger: an event of leg %llu could not be written", (unsigned long long)event->leg);
    (void)event_add(ledger->later, &soon);
}
