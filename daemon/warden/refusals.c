/* refusals.c - a leg that is never started: why, for the client and the ledger.
 *
 * Every way to refuse ends here, and LEG is gone after each. */
#include "ledger.h"
#include "leg.h"
#include "log.h"
#include "placeholders.h"
#include "steps.h"
#include "versions.h"
#include <errno.h>
#include <stdio.h>

/* The row (if there is one already) is amended, what stands is taken down, the client is told. */
static void tell_refusal(
    struct leg *leg, struct seam_writer *writer, struct seam_refused *refused, const char *detail)
{
    struct front *front = leg->front;

    log_info("leg of uid %u refused: %s", leg->peer.uid,
        reason_entry(refused->refusals[0].reason)->slug);
    if (leg->recorded)
        ledger_refused(leg->warden->ledger, leg->id, refused->refusals[0].reason, detail,
            refused->client_status);
    placeholders_release(leg);
    version_given_up(leg, reason_entry(refused->refusals[0].reason)->slug);
    leg_free(leg);
    if (front)
        (void)front_send(front, writer, refused, NULL, 0);
    else
        seam_writer_done(writer);
}

static void refuse_with(struct leg *leg, enum reason reason, const char *detail, uint32_t status)
{
    struct seam_refused refused = {
        .n_refusals = 1, .client_status = status, .leg = leg->recorded ? leg->id : 0};
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_REFUSED, leg->request_number);
    refused.refusals[0].reason = reason;
    refused.refusals[0].detail = seam_put_text(&writer, detail);
    tell_refusal(leg, &writer, &refused, detail);
}

void leg_refuse(struct leg *leg, enum reason reason, const char *detail)
{
    refuse_with(leg, reason, detail, 125);
}

/* A failed mount of a grant has a name of its own; so has a program that is not there. */
static enum reason reason_of(const struct leg *leg, uint32_t step, int error)
{
    if (step == STEP_IDMAP && leg->slot && error == EINVAL)
        return REASON_GRANT_FILESYSTEM;
    if (step == STEP_CARVE_OUTS)
        return REASON_CARVE_OUT_UNENFORCEABLE;
    if (step == STEP_DIRECTORY)
        return REASON_DIRECTORY_NOT_VISIBLE;
    if (step == STEP_EXEC)
        return error == ENOENT ? REASON_COMMAND_NOT_FOUND : REASON_COMMAND_NOT_EXECUTABLE;
    return fault_is_shortage(error) ? REASON_OUT_OF_RESOURCES : REASON_BUILD_FAILED;
}

void leg_fail(struct leg *leg, uint32_t step, int error, const char *subject)
{
    enum reason reason = reason_of(leg, step, error);
    uint32_t status = reason == REASON_COMMAND_NOT_FOUND        ? 127
                      : reason == REASON_COMMAND_NOT_EXECUTABLE ? 126
                                                                : 125;
    char detail[REFUSAL_DETAIL_MAX + 64];

    (void)snprintf(detail, sizeof(detail), "step %s: %s: %s", step_slug(step), subject,
        fault_errno_name(error));
    refuse_with(leg, reason, detail, status);
}

void leg_refuse_decided(struct leg *leg)
{
    const struct decision *decision = &leg->decision;
    struct seam_refused refused = {.n_refusals = decision->n_refusals, .client_status = 125};
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_REFUSED, leg->request_number);
    for (uint32_t i = 0; i < decision->n_refusals; i++) {
        refused.refusals[i].reason = decision->refusals[i].reason;
        refused.refusals[i].detail = seam_put_text(&writer, decision->refusals[i].detail);
    }
    tell_refusal(leg, &writer, &refused, decision->refusals[0].detail);
}
