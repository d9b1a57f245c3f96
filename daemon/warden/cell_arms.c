/* cell_arms.c - the arms of a cell: begun, and amended by what the ledger says of their legs. */
#include "cells_private.h"

#include "clock.h"
#include "nesting.h"
#include "text.h"
#include "vendors.h"
#include <stdio.h>
#include <sys/wait.h>

/* The turn outside of our boundary is the client's own doing; but not with the vendor's sandbox
 * switched off by the command: then nothing would hold at all.  No settings are read here: where
 * they switch it on, the command says nothing of it, and that is no bypass; nor is there one of a
 * sandbox that the vendor does not have. */
static bool may_control(struct front *front, const struct seam_message *message, const char *vendor)
{
    const struct seam_arm *ask = message->fixed;
    const struct profile *profile = vendors_find(front->warden->vendors, vendor);
    struct nesting_question questions[NESTING_QUESTIONS_MAX];
    static struct nesting_answer answers[NESTING_QUESTIONS_MAX]; /* all: nothing was found */
    const char *argv[64];
    struct nesting_command command = {.argv = argv};
    struct nesting nesting;
    const char *word = ask->argv.count ? seam_list_first(message, ask->argv) : NULL;

    if (!profile || profile->standard == PROFILE_DEFAULT_NONE)
        return true;
    for (; command.argc < ask->argv.count && command.argc < array_size(argv); command.argc++) {
        argv[command.argc] = word;
        word = seam_list_next(word);
    }
    for (size_t i = 0; i < array_size(answers); i++)
        answers[i] = (struct nesting_answer){.found = FOUND_NOTHING};
    nesting_judge(
        profile, &command, answers, nesting_questions(profile, &command, questions), &nesting);
    if (!nesting.bypass[0] &&
        (nesting.sandbox != SANDBOX_OFF || profile->standard != PROFILE_DEFAULT_ON))
        return true;
    return cells_refuse(front, message->header.request, REASON_BYPASS_WITHOUT_BOUNDARY,
        nesting.bypass[0] ? nesting.bypass : "the control has the vendor's own sandbox off");
}

#define RETRIES 5 /* refused calls that make a loop of it */
#define BUSY_PERCENT                                                                               \
    10 /* of a cpu: whoever waits takes next to none, however busy the machine is */

static int64_t percent(int64_t part, int64_t whole)
{
    return whole > 0 ? part * 100 / whole : 0;
}

/* The shape that it hung in. */
static void describe_hang(const struct arm_leg_row *leg, char detail[ARM_DETAIL_MAX])
{
    int64_t cpu = percent(leg->cpu_us, leg->wall_us);
    char share[40];

    if (leg->cpu_us < 0)
        (void)snprintf(share, sizeof(share), "its processor time is not known,");
    else
        (void)snprintf(share, sizeof(share), "%lld%% of a cpu", (long long)cpu);
    (void)snprintf(detail, ARM_DETAIL_MAX,
        "%s: %s over %lld ms, %llu refused calls%s%.300s; its whole tree was ended and its cgroup "
        "is empty",
        leg->refused_calls >= RETRIES ? "a retry loop without an end"
        : leg->cpu_us < 0             ? "no end"
        : cpu >= BUSY_PERCENT         ? "spinning"
                                      : "waiting",
        share, (long long)(leg->wall_us / 1000), (unsigned long long)leg->refused_calls,
        leg->denial[0] ? ", the first: " : "", leg->denial);
}

static void describe(enum arm arm, const struct arm_leg_row *leg, enum arm_outcome outcome,
    char detail[ARM_DETAIL_MAX])
{
    detail[0] = '\0';
    if (outcome == OUTCOME_HELD)
        return;
    if (outcome == OUTCOME_HUNG)
        describe_hang(leg, detail);
    else if ((arm == ARM_OUTSIDE || arm == ARM_GRANDCHILD) && leg->facts.wait_status >= 0 &&
             WIFEXITED(leg->facts.wait_status) && WEXITSTATUS(leg->facts.wait_status) == 9)
        (void)snprintf(detail, ARM_DETAIL_MAX, "THE WRITE WENT THROUGH");
    else if (leg->nested[0])
        (void)snprintf(detail, ARM_DETAIL_MAX, "%s", leg->nested);
    else
        (void)snprintf(detail, ARM_DETAIL_MAX, "%.500s%s%.400s", leg->reason,
            leg->denial[0] ? "; denied: " : "", leg->denial);
}

/* An arm that ran as a leg is what the ledger says of that leg, whatever the client says of it. */
static bool take_leg(struct front *front, uint64_t request, const struct owned_cell *cell,
    struct arm_row *row, struct arm_leg_row *leg, char detail[ARM_DETAIL_MAX])
{
    int r = ledger_arm_leg(front->warden->ledger, row->leg, leg);

    if (r < 0 || leg->uid != front->peer.uid || leg->asked_ms < cell->begun_ms ||
        leg->ended_ms == 0 || !text_equal(leg->vendor, cell->vendor) ||
        !text_equal(boundary_name(leg->boundary), cell->boundary) || !leg->sandbox[0])
        return cells_refuse(front, request, REASON_LEG_UNKNOWN, "no measuring leg of this cell");
    row->outcome = arm_judge(&leg->facts);
    row->status = leg->facts.wait_status;
    describe(row->arm, leg, row->outcome, detail);
    row->texts[ARM_TEXT_DETAIL] = detail;
    row->texts[ARM_TEXT_EVENTS] = leg->events;
    return true;
}

static void read_arm(const struct seam_message *message, struct arm_row *row)
{
    const struct seam_arm *ask = message->fixed;

    *row = (struct arm_row){.cell = ask->cell,
        .leg = ask->leg,
        .arm = (enum arm)ask->arm,
        .outcome = (enum arm_outcome)ask->outcome,
        .status = ask->status,
        .begun_ms = ask->begun_ms,
        .ended_ms = ask->ended_ms};
    for (size_t i = 0; i < ARM_TEXT_COUNT; i++)
        row->texts[i] = seam_text(message, ask->texts[i]);
}

static bool amend_arm(struct front *front, struct seam_message *message,
    const struct owned_cell *cell, struct arm_row *row)
{
    static struct arm_leg_row leg; /* large; filled anew each time */
    static char detail[ARM_DETAIL_MAX];
    uint64_t request = message->header.request;

    if (row->arm != ARM_CONTROL && row->leg)
        return take_leg(front, request, cell, row, &leg, detail);
    /* No leg's: only what says nothing good of it, but for the control, which is the client's. */
    if (row->arm != ARM_CONTROL && row->outcome != OUTCOME_REFUSED &&
        row->outcome != OUTCOME_LOST && row->outcome != OUTCOME_UNRUNNABLE &&
        row->outcome != OUTCOME_LOUD)
        return cells_refuse(front, request, REASON_REQUEST_MALFORMED, "arm.outcome: without a leg");
    return true;
}

void answer_arm(struct front *front, struct seam_message *message)
{
    const struct seam_arm *ask = message->fixed;
    uint64_t request = message->header.request;
    bool import = ask->step == CELL_STEP_IMPORT;
    struct owned_cell cell;
    struct arm_row row;
    bool good;

    read_arm(message, &row);
    good = may_measure(&front->peer, &front->warden->policy) ||
           cells_refuse(front, request, REASON_MEASURE_NOT_ALLOWED, "an arm");
    good = good && cells_find_own(front, request, row.cell, &cell);
    if (good && (row.arm >= ARM_COUNT || row.outcome >= OUTCOME_COUNT || import != cell.imported))
        good = cells_refuse(front, request, REASON_REQUEST_MALFORMED, "arm");
    if (good && ask->step == CELL_STEP_BEGIN) {
        good = row.arm != ARM_CONTROL || may_control(front, message, cell.vendor);
        row.outcome = OUTCOME_RUNNING;
        row.begun_ms = clock_wall_ms();
        row.leg = 0;
        row.status = -1;
    } else if (good && !import) {
        good = amend_arm(front, message, &cell, &row);
        row.ended_ms = clock_wall_ms();
    }
    if (good && ledger_arm_put(front->warden->ledger, &row) < 0)
        good = cells_refuse(front, request, REASON_LEDGER_FAILED, "the arm could not be written");
    seam_message_done(message);
    if (good)
        (void)front_end_reply(front, request, row.cell);
}
