#include "cells.h"

#include "cells_private.h"

#include "clock.h"
#include "machine.h"
#include "text.h"
#include "vendors.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PAGE_BYTES (512U * 1024U) /* of one answer; what is left is the next page */

bool cells_refuse(struct front *front, uint64_t request, enum reason reason, const char *detail)
{
    (void)front_refuse(front, request, reason, detail);
    return false;
}

/* ---- sending ---- */

static bool send_cell(struct front *front, uint64_t request, const struct cell_row *row)
{
    struct seam_cell out = {.cell = row->id,
        .verdict = row->verdict,
        .silent = row->silent,
        .arm = row->arm,
        .newest = row->newest != 0,
        .begun_ms = row->begun_ms,
        .ended_ms = row->ended_ms};
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_CELL, request);
    for (size_t i = 0; i < CELL_TEXT_COUNT; i++)
        out.texts[i] = seam_put_text(&writer, row->texts[i]);
    return front_send(front, &writer, &out, NULL, 0);
}

static bool send_arm(struct front *front, uint64_t request, const struct arm_row *row)
{
    struct seam_arm out = {.cell = row->cell,
        .leg = row->leg,
        .arm = row->arm,
        .outcome = row->outcome,
        .status = row->status,
        .begun_ms = row->begun_ms,
        .ended_ms = row->ended_ms};
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_ARM, request);
    for (size_t i = 0; i < ARM_TEXT_COUNT; i++)
        out.texts[i] = seam_put_text(&writer, row->texts[i]);
    out.argv = seam_put_list(&writer, NULL, 0);
    return front_send(front, &writer, &out, NULL, 0);
}

/* ---- judging ---- */

struct arms {
    struct arm_facts facts[ARM_COUNT];
    char details[ARM_COUNT][ARM_DETAIL_MAX];
    uint64_t legs[ARM_COUNT];
};

static bool collect_arm(void *context, const struct arm_row *row)
{
    struct arms *arms = context;

    if (row->arm >= ARM_COUNT)
        return true;
    (void)snprintf(arms->details[row->arm], ARM_DETAIL_MAX, "%s", row->texts[ARM_TEXT_DETAIL]);
    arms->facts[row->arm] = (struct arm_facts){row->outcome, arms->details[row->arm]};
    arms->legs[row->arm] = row->leg;
    return true;
}

static int judge(struct ledger *ledger, uint64_t cell, struct arms *arms, struct cell_finding *ret)
{
    int r;

    memset(arms, 0, sizeof(*arms));
    r = ledger_arms(ledger, cell, collect_arm, arms);
    if (r == 0)
        cell_judge(arms->facts, ret);
    return r;
}

/* ---- freshness ---- */

void cells_find_stale(struct warden *warden, const struct cell_row *row, const char *program,
    const char *version, char why[CELL_STALE_MAX])
{
    char newest[320];
    struct cell_ground then = {row->texts[CELL_TEXT_kernel], row->texts[CELL_TEXT_saphan],
        row->texts[CELL_TEXT_vendor_version], row->texts[CELL_TEXT_identity]};
    struct cell_ground now = {warden->report->kernel, SAPHAN_VERSION, version, program};

    if (row->texts[CELL_TEXT_origin][0]) {
        (void)snprintf(why, CELL_STALE_MAX, "imported from %.80s: it informs and never admits",
            row->texts[CELL_TEXT_origin]);
        return;
    }
    if (!version && ledger_newest_version(
                        warden->ledger, row->texts[CELL_TEXT_vendor], newest, sizeof(newest)) == 0)
        now.vendor_version = newest;
    (void)cell_is_fresh(&then, &now, why);
}

/* What is told of a cell: one that was not ended is judged by what stands of it. */
static bool tell_cell(struct front *front, uint64_t request, const struct cell_row *row)
{
    struct cell_row out = *row;
    struct cell_finding finding;
    char stale[CELL_STALE_MAX];
    struct arms arms;

    cells_find_stale(front->warden, row, NULL, NULL, stale);
    out.texts[CELL_TEXT_stale] = stale;
    if (row->ended_ms == 0 && judge(front->warden->ledger, row->id, &arms, &finding) == 0) {
        out.verdict = CELL_INDETERMINATE;
        out.arm = finding.arm;
        out.texts[CELL_TEXT_why] =
            finding.verdict == CELL_INDETERMINATE ? finding.why : "it was never ended";
    }
    return send_cell(front, request, &out);
}

/* ---- a cell begins, ends, is imported ---- */

static const char *enclosure_of(const struct warden *warden)
{
    const struct rung *rung = &warden->machine.rungs[RUNG_UNENCLOSED];

    return rung->state == RUNG_HOLDS ? "saphand runs in nobody's domain or container"
                                     : rung->detail;
}

static void fill_here(struct front *front, struct cell_row *row)
{
    const struct machine_report *report = front->warden->report;

    row->texts[CELL_TEXT_kernel] = report->kernel;
    row->texts[CELL_TEXT_distribution] = report->distribution;
    row->texts[CELL_TEXT_boot_id] = report->boot_id;
    row->texts[CELL_TEXT_host] = report->host;
    row->texts[CELL_TEXT_saphan] = SAPHAN_VERSION;
    row->texts[CELL_TEXT_enclosure] = enclosure_of(front->warden);
    row->texts[CELL_TEXT_platform] = "linux";
    row->texts[CELL_TEXT_identity] = row->texts[CELL_TEXT_vendor_version] = NULL;
    row->texts[CELL_TEXT_walls] = row->texts[CELL_TEXT_why] = row->texts[CELL_TEXT_sandbox] = NULL;
    row->texts[CELL_TEXT_origin] = row->texts[CELL_TEXT_hash] = row->texts[CELL_TEXT_stale] = NULL;
}

static void read_cell(const struct seam_message *message, struct cell_row *row)
{
    const struct seam_cell *ask = message->fixed;

    *row = (struct cell_row){.id = ask->cell,
        .verdict = (enum cell_verdict)ask->verdict,
        .silent = ask->silent != 0,
        .arm = (enum arm)ask->arm,
        .begun_ms = ask->begun_ms,
        .ended_ms = ask->ended_ms};
    for (size_t i = 0; i < CELL_TEXT_COUNT; i++)
        row->texts[i] = seam_text(message, ask->texts[i]);
}

static void begin(struct front *front, struct seam_message *message, bool import)
{
    uint64_t request = message->header.request, id = 0;
    struct cell_row row;
    int r;

    read_cell(message, &row);
    if (!row.texts[CELL_TEXT_vendor] || !row.texts[CELL_TEXT_boundary] ||
        row.verdict > CELL_INDETERMINATE || row.arm >= ARM_COUNT ||
        (import && !row.texts[CELL_TEXT_origin])) {
        (void)cells_refuse(
            front, request, REASON_REQUEST_MALFORMED, "cell: vendor, boundary, origin");
        return;
    }
    row.uid = front->peer.uid;
    row.newest = import ? 1 : 2;
    row.texts[CELL_TEXT_stale] = NULL;
    if (!import) {
        fill_here(front, &row);
        row.texts[CELL_TEXT_user] = front->account.name;
        row.verdict = CELL_BLANK;
        row.begun_ms = clock_wall_ms();
        row.ended_ms = 0;
    }
    r = ledger_cell_begin(front->warden->ledger, &row, &id);
    if (r < 0)
        (void)cells_refuse(front, request, REASON_LEDGER_FAILED, "the cell could not be written");
    else
        (void)front_end_reply(front, request, id);
}

static bool look_at_owner(void *context, const struct cell_row *row)
{
    struct owned_cell *owned = context;

    owned->imported = row->texts[CELL_TEXT_origin][0] != '\0';
    owned->open = row->uid == owned->front->peer.uid && (row->ended_ms == 0 || owned->imported);
    owned->begun_ms = row->begun_ms;
    (void)snprintf(owned->vendor, sizeof(owned->vendor), "%s", row->texts[CELL_TEXT_vendor]);
    (void)snprintf(owned->boundary, sizeof(owned->boundary), "%s", row->texts[CELL_TEXT_boundary]);
    return false;
}

bool cells_find_own(struct front *front, uint64_t request, uint64_t cell, struct owned_cell *ret)
{
    char detail[64];

    *ret = (struct owned_cell){.front = front};
    if (ledger_cell(front->warden->ledger, cell, look_at_owner, ret) == 0 && ret->open)
        return true;
    (void)snprintf(detail, sizeof(detail), "cell %llu", (unsigned long long)cell);
    return cells_refuse(front, request, REASON_CELL_UNKNOWN, detail);
}

struct telling {
    struct front *front; /* NULL once it is gone */
    uint64_t request, last;
    size_t bytes;
    bool arms, more;
};

static bool tell_arm(void *context, const struct arm_row *row)
{
    struct telling *telling = context;

    for (size_t i = 0; i < ARM_TEXT_COUNT; i++)
        telling->bytes += strlen(row->texts[i]);
    if (send_arm(telling->front, telling->request, row))
        return true;
    telling->front = NULL;
    return false;
}

static bool tell_one(void *context, const struct cell_row *row)
{
    struct telling *telling = context;

    if (telling->bytes > PAGE_BYTES) {
        telling->more = true;
        return false;
    }
    if (!tell_cell(telling->front, telling->request, row)) {
        telling->front = NULL;
        return false;
    }
    telling->last = row->id;
    telling->bytes += 256;
    for (size_t i = 0; i < CELL_TEXT_COUNT; i++)
        telling->bytes += strlen(row->texts[i]);
    if (telling->arms)
        (void)ledger_arms(telling->front->warden->ledger, row->id, tell_arm, telling);
    return telling->front != NULL;
}

static void end(struct front *front, struct seam_message *message)
{
    const struct seam_cell *ask = message->fixed;
    uint64_t request = message->header.request, cell = ask->cell;
    struct telling telling = {.front = front, .request = request, .arms = true};
    struct ledger *ledger = front->warden->ledger;
    struct cell_finding finding;
    struct arm_leg_row turn = {0};
    struct cell_row row = {.id = cell};
    struct owned_cell owned;
    struct arms arms;
    int r;

    if (!cells_find_own(front, request, cell, &owned))
        return;
    r = judge(ledger, cell, &arms, &finding);
    if (r == 0 && arms.legs[ARM_TURN])
        (void)ledger_arm_leg(ledger, arms.legs[ARM_TURN], &turn);
    if (r == 0) {
        row.verdict = finding.verdict;
        row.silent = finding.silent;
        row.arm = finding.arm;
        row.ended_ms = clock_wall_ms();
        row.texts[CELL_TEXT_why] = finding.why;
        row.texts[CELL_TEXT_walls] = turn.claims;
        row.texts[CELL_TEXT_sandbox] = turn.sandbox;
        row.texts[CELL_TEXT_identity] = turn.identity;
        row.texts[CELL_TEXT_vendor_version] = turn.version;
        if (turn.sha256[0]) /* as saphand saw it, whatever the client said */
            row.texts[CELL_TEXT_sha256] = turn.sha256;
        r = ledger_cell_end(ledger, &row);
    }
    if (r == 0)
        r = ledger_cell(ledger, cell, tell_one, &telling);
    if (!telling.front)
        return;
    if (r < 0)
        (void)cells_refuse(front, request, REASON_LEDGER_FAILED, "the cell could not be ended");
    else
        (void)front_end_reply(front, request, cell);
}

void answer_cell(struct front *front, struct seam_message *message)
{
    const struct seam_cell *ask = message->fixed;

    if (!may_measure(&front->peer, &front->warden->policy))
        (void)cells_refuse(front, message->header.request, REASON_MEASURE_NOT_ALLOWED, "a cell");
    else if (ask->step == CELL_STEP_END)
        end(front, message);
    else
        begin(front, message, ask->step == CELL_STEP_IMPORT);
    seam_message_done(message);
}

/* ---- the matrix ---- */

/* Nobody looked at these; that is not "no". */
static bool tell_blank(struct telling *telling, const char *vendor, const char *boundary)
{
    struct cell_row row = {.texts = {[CELL_TEXT_vendor] = vendor, [CELL_TEXT_boundary] = boundary}};
    bool seen = false;

    if (ledger_cell_seen(telling->front->warden->ledger, vendor, boundary, &seen) < 0 || seen ||
        send_cell(telling->front, telling->request, &row))
        return true;
    telling->front = NULL;
    return false;
}

static void tell_blanks(struct telling *telling, const char *vendor)
{
    const char *name;

    for (size_t i = 0; telling->front && (name = vendors_name(telling->front->warden->vendors, i));
         i++) {
        if (vendor && !text_equal(vendor, name))
            continue;
        for (enum boundary b = BOUNDARY_DOMAIN; b < BOUNDARY_NONE; b++) {
            if (!tell_blank(telling, name, boundary_name(b)))
                return;
        }
    }
}

void answer_matrix(struct front *front, struct seam_message *message)
{
    const struct seam_ask_matrix *ask = message->fixed;
    const char *vendor = seam_text(message, ask->vendor);
    struct telling telling = {.front = front,
        .request = message->header.request,
        .arms = ask->arms || ask->what == MATRIX_ONE};
    struct ledger *ledger = front->warden->ledger;
    char detail[64];
    int r;

    if (ask->what == MATRIX_ONE)
        r = ledger_cell(ledger, ask->after, tell_one, &telling);
    else
        r = ledger_cells(
            ledger, ask->what == MATRIX_HISTORY, vendor, ask->after, tell_one, &telling);
    if (telling.front && r == 0 && ask->what == MATRIX_NEWEST && !telling.more)
        tell_blanks(&telling, vendor);
    (void)snprintf(detail, sizeof(detail), "cell %llu", (unsigned long long)ask->after);
    if (telling.front && r < 0)
        (void)cells_refuse(
            front, telling.request, REASON_LEDGER_FAILED, "the matrix could not be read");
    else if (telling.front && ask->what == MATRIX_ONE && telling.last == 0)
        (void)cells_refuse(front, telling.request, REASON_CELL_UNKNOWN, detail);
    else if (telling.front)
        (void)front_end_reply(front, telling.request, telling.more ? telling.last : 0);
    seam_message_done(message);
}
