/* cell_standing.c - what the newest cells say when somebody is about to be admitted. */
#include "cells_private.h"

#include "cgroup.h"
#include "log.h"
#include "properties.h"
#include "text.h"
#include <stdio.h>
#include <string.h>

struct counting {
    struct warden *warden;
    struct cell_counts *counts;
};

static bool count_one(void *context, const struct cell_row *row)
{
    struct counting *counting = context;
    char stale[CELL_STALE_MAX];

    if (row->texts[CELL_TEXT_origin][0])
        return true;
    cells_find_stale(counting->warden, row, NULL, NULL, stale);
    if (stale[0])
        counting->counts->stale++;
    else if (row->ended_ms == 0 || row->verdict == CELL_INDETERMINATE)
        counting->counts->indeterminate++;
    else if (row->verdict == CELL_NESTS)
        counting->counts->nests++;
    else if (row->verdict == CELL_HANGS)
        counting->counts->hangs++;
    else
        counting->counts->collides++;
    return true;
}

void cells_count(struct warden *warden, struct cell_counts *ret)
{
    struct counting counting = {warden, ret};

    *ret = (struct cell_counts){0};
    (void)ledger_cells(warden->ledger, false, NULL, 0, count_one, &counting);
}

static const char *sandbox_of(const struct leg *leg)
{
    if (!leg->request.profile || !leg->request.nesting ||
        leg->request.profile->standard == PROFILE_DEFAULT_NONE)
        return "none";
    return leg->vendor.nesting.sandbox == SANDBOX_ON   ? "on"
           : leg->vendor.nesting.reason != REASON_NONE ? "on"
                                                       : "off";
}

/* What the program is, as the opener saw it, or which image has it: another file has another one.
 * "": it is not known. */
static void identify(const struct leg *leg, char *out, size_t size)
{
    const struct leg_program *program = &leg->vendor.program;
    int length;

    out[0] = '\0';
    if (program->path && leg->image) {
        length = snprintf(out, size, "image sha256:%s %s", program->sha256, program->path);
        if (length < 0 || (size_t)length >= size)
            out[0] = '\0';
    } else if (program->path)
        (void)snprintf(out, size, "%llu:%llu:%llu:%lld:%lld", (unsigned long long)program->dev,
            (unsigned long long)program->ino, (unsigned long long)program->size,
            (long long)program->mtime_ns, (long long)program->ctime_ns);
}

/* "says it is codex-cli 1.2, sha256 ...": the version alone; "" where it is not known. */
static void version_of(const struct leg *leg, char *out, size_t size)
{
    static const char before[] = "says it is ";
    const char *version = leg->vendor.version_known ? leg->vendor.version : "";
    char *end;

    if (text_starts_with(version, before))
        version += strlen(before);
    (void)snprintf(out, size, "%s", version);
    end = strrchr(out, ',');
    if (end)
        *end = '\0';
}

static bool stand(void *context, const struct cell_row *row)
{
    struct leg *leg = context;
    struct cell_standing *standing = &leg->standing;
    char identity[200], version[320];

    identify(leg, identity, sizeof(identity));
    version_of(leg, version, sizeof(version));
    standing->cell = row->id;
    standing->verdict = row->verdict;
    if (!identity[0] && leg->request.profile && leg->request.profile->programs.count > 0)
        (void)snprintf(standing->stale, sizeof(standing->stale),
            "which file the vendor's program is, is not known of this command");
    else
        cells_find_stale(leg->warden, row, identity, version[0] ? version : NULL, standing->stale);
    return false;
}

void cells_look_up(struct leg *leg)
{
    const struct policy *policy = &leg->warden->policy;
    const char *vendor = leg->request.vendor && *leg->request.vendor ? leg->request.vendor : "proc";
    bool wanted = false;

    for (size_t i = 0; i < policy->n_rules; i++)
        wanted = wanted || policy->rules[i].require_nests;
    /* What only asks a program for its version, for a cell to be compared with, does no work. */
    if (!wanted || leg->vendor.says)
        return;
    leg->request.cell = &leg->standing;
    leg->standing.sandbox = sandbox_of(leg);
    if (ledger_cell_of(leg->warden->ledger, vendor,
            boundary_name(leg->request.boundary ? leg->request.boundary : BOUNDARY_DOMAIN),
            leg->standing.sandbox, stand, leg) < 0)
        log_error("ledger: the cell of %s could not be read", vendor);
}

void cells_note_leg(struct leg *leg)
{
    const struct nesting *nesting = leg->request.nesting;
    char identity[200], version[320];

    if (!leg->run->measure)
        return;
    identify(leg, identity, sizeof(identity));
    version_of(leg, version, sizeof(version));
    leg_tell(leg, EVENT_NOTE, REASON_NONE, NULL, "measured-sandbox", sandbox_of(leg));
    if (identity[0])
        leg_tell(leg, EVENT_NOTE, REASON_NONE, NULL, "measured-program", identity);
    if (version[0])
        leg_tell(leg, EVENT_NOTE, REASON_NONE, NULL, "measured-version", version);
    if (leg->vendor.program.sha256[0] && !leg->image)
        leg_tell(leg, EVENT_NOTE, REASON_NONE, NULL, "measured-sha256", leg->vendor.program.sha256);
    if (nesting && nesting->reason != REASON_NONE)
        leg_tell(leg, EVENT_NOTE, REASON_NONE, NULL, reason_entry(nesting->reason)->slug,
            "a measuring leg: it was started all the same");
}

/* What was ended has no exit status with its usage in it; its cgroup counted all the same. */
void cells_note_end(struct leg *leg)
{
    uint64_t cpu_us;
    char text[24];

    if (!leg->run->measure || !leg->started ||
        cgroup_counter(leg->slot->cgroup, "cpu.stat", "usage_usec", &cpu_us) < 0)
        return;
    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)cpu_us);
    leg_tell(leg, EVENT_NOTE, REASON_NONE, NULL, "measured-cpu", text);
}
