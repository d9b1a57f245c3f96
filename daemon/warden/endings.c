/* endings.c - the last process of a leg is gone: judge, record, tell.
 *
 * The order matters: the cgroup is emptied and removed first, so that nothing of the leg can still
 * change what is judged; the placeholders go; then the checker looks; then the row is amended and
 * the client told. */
#include "leg.h"
#include "legs.h"

#include "cells.h"
#include "cgroup.h"
#include "clock.h"
#include "doors.h"
#include "ear.h"
#include "journal.h"
#include "kept_files.h"
#include "ledger.h"
#include "log.h"
#include "placeholders.h"
#include "text.h"
#include "verdicts.h"
#include "versions.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void read_counters(struct leg *leg)
{
    struct ending *ending = &leg->ending;
    int cgroup = leg->slot->cgroup;

    if (cgroup_counter(cgroup, "memory.events", "oom_kill", &ending->oom_kills) < 0)
        ending->oom_kills = 0; /* no memory controller: nothing was limited, nothing to count */
    if (cgroup_counter(cgroup, "pids.events", "max", &ending->tasks_hits) < 0)
        ending->tasks_hits = 0;
    cells_note_end(leg);
}

static void tell_artefacts(struct leg *leg)
{
    for (uint32_t i = 0; i < leg->decision.n_artefacts; i++) {
        const struct artefact_stamp *stamp = &leg->after[i];
        auto_free char *path =
            text_format("%s%s%s", leg->grant_paths[leg->decision.artefacts[i].grant],
                leg->decision.artefacts[i].path[0] ? "/" : "", leg->decision.artefacts[i].path);
        char digest[65] = "";

        if (stamp->error == 0 && stamp->hashed)
            text_format_sha256(stamp->sha256, digest);
        leg_tell(leg, EVENT_ARTEFACT, leg->ending.artefacts[i],
            (int64_t[]){stamp->error ? -1 : (int64_t)stamp->size, 0, 0}, path,
            digest[0] ? digest : NULL);
    }
}

static void tell_verdict(struct leg *leg, struct front *front, const struct verdict *verdict)
{
    struct seam_verdict out;
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_VERDICT, leg->request_number);
    verdict_fill(leg, verdict, &writer, &out);
    if (front)
        (void)front_send(front, &writer, &out, NULL, 0);
    else
        seam_writer_done(&writer);
}

static void conclude(struct leg *leg)
{
    struct verdict verdict = {0};

    leg_judge(leg);
    leg_vendor_ended(leg);
    tell_artefacts(leg);
    verdict_compose(&leg->ending, &verdict);
    ledger_end(leg->warden->ledger, leg, &verdict);
    journal_leg_ended(leg, &verdict);
    leg_tell_left_out(leg);
    tell_verdict(leg, leg->front, &verdict);
    version_said(leg, &verdict);
    leg_free(leg);
}

/* The checker, the ear and the door have their say first, whoever is later. */
static void conclude_if_all_said(struct leg *leg)
{
    if (!leg->errand && !leg->hearing && !leg->door)
        conclude(leg);
}

void leg_door_done(struct leg *leg)
{
    conclude_if_all_said(leg);
}

void leg_heard_out(struct leg *leg)
{
    conclude_if_all_said(leg);
}

static void checked(void *context, int result)
{
    struct leg *leg = context;

    leg->errand = NULL;
    if (result < 0)
        leg->ending.checker_failed = true;
    conclude_if_all_said(leg);
}

static void judge_artefacts(struct leg *leg)
{
    if (leg->decision.n_artefacts > 0 && leg_stamp(leg, true, checked) < 0)
        leg->ending.checker_failed = true;
    conclude_if_all_said(leg);
}

/* Files that could not be compared are said to be so; where the rule counts them, nobody can say
 * whether the leg was good. */
static void files_read(void *context, int result)
{
    struct leg *leg = context;

    leg->errand = NULL;
    if (result < 0) {
        leg_tell(leg, EVENT_NOTE, REASON_SETTINGS_UNREADABLE, NULL, NULL,
            "the vendor's files could not be compared after the leg");
        leg->ending.checker_failed |= leg->vendor.rewritten_red;
    } else {
        leg_files_ended(leg);
    }
    judge_artefacts(leg);
}

void leg_end(struct leg *leg)
{
    struct slot *slot = leg->slot;
    int r;

    if (leg->wall)
        (void)event_del(leg->wall);
    leg->state = LEG_ENDING;
    leg->gone_us = clock_monotonic_us();
    if (!leg->ending.exited && leg->ending.killed == REASON_NONE)
        leg->ending.stub_lost = true;
    read_counters(leg);
    if (!leg->ending.exited && leg->keeps_output)
        kept_files_count(leg->warden, leg->id, leg->kept);
    leg->slot = NULL;
    slot_leave(slot);
    placeholders_release(leg);
    if (leg->door)
        door_end(leg->door);
    (void)ear_hear_out(leg);
    r = leg->vendor.n_files > 0 ? leg_read_files(leg, files_read) : 0;
    if (r < 0)
        files_read(leg, r);
    else if (r == 0)
        judge_artefacts(leg);
}
