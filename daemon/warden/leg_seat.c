/* leg_seat.c - the seat home, writable as far as its vendor needs it.
 *
 * Where a profile names parts of the home, the seat is shown read-only and the parts are write
 * grants of their own, which the policy judges like any other.  The maker opens them as the
 * requester, and makes those that are not there. */
#include "leg.h"
#include "leg_image.h"

#include "fault.h"
#include "steps.h"
#include "text.h"
#include <errno.h>
#include <stdio.h>

#define MAKE_TIMEOUT_MS 3000

int leg_seat(const struct leg *leg)
{
    for (uint32_t i = 0; i < leg->request.n_grants; i++) {
        if (leg->request.grants[i].kind == GRANT_SEAT ||
            leg->request.grants[i].kind == GRANT_SEAT_READ)
            return (int)i;
    }
    return -1;
}

void leg_narrow_seat(struct leg *leg)
{
    const struct words *parts = &leg->request.profile->home_writable;
    int seat = leg_seat(leg);

    if (seat >= 0 && parts->count > 0 && !words_have(parts, "."))
        leg->request.grants[seat] = (struct grant){.kind = GRANT_SEAT_READ,
            .path = leg->request.grants[seat].path,
            .target = leg->request.grants[seat].target,
            .directory = leg->request.grants[seat].directory,
            .narrowed = true};
}

static bool took_part(void *context, struct seam_message *message)
{
    struct leg *leg = context;
    const struct seam_made *made = message->fixed;
    struct request *request = &leg->request;
    const struct words *parts = &request->profile->home_writable;

    if (made->path >= parts->count)
        return true;
    if (made->error || message->n_descriptors != 1 || request->n_grants == GRANTS_MAX) {
        if (leg->build_fault.step == 0)
            (void)fault_set(&leg->build_fault, STEP_OPEN,
                made->error                       ? made->error
                : request->n_grants == GRANTS_MAX ? E2BIG
                                                  : EBADMSG,
                "%s of the seat home", parts->list[made->path]);
        return true;
    }
    leg->grant_fds[request->n_grants] = steal_fd(&message->descriptors[0]);
    request->grants[request->n_grants++] = (struct grant){.kind = GRANT_WRITE,
        .target =
            leg_image_place(leg, request->grants[leg_seat(leg)].target, parts->list[made->path]),
        .added = "what the vendor's program writes of its home"};
    return true;
}

int leg_make_seat(struct leg *leg, errand_done *done)
{
    const struct words *parts = &leg->request.profile->home_writable;
    int seat = leg_seat(leg), r;
    struct seam_make make = {0};
    struct seam_writer writer;

    if (seat < 0 || leg->request.grants[seat].kind != GRANT_SEAT_READ)
        return 0;
    leg->vendor.first_part = leg->request.n_grants;
    seam_writer_init(&writer, SEAM_MAKE, 0);
    make.paths = seam_put_list(&writer, parts->list, parts->count);
    r = errand_run(leg->warden,
        &(struct errand_question){.program = PROGRAM_MAKER,
            .as = &leg->peer,
            .type = SEAM_MAKE,
            .fixed = &make,
            .writer = &writer,
            .descriptors = &leg->grant_fds[seat],
            .n_descriptors = 1,
            .answer_type = SEAM_MADE,
            .n_answers = parts->count,
            .timeout_ms = MAKE_TIMEOUT_MS,
            .answer = took_part,
            .done = done,
            .context = leg},
        &leg->errand);
    seam_writer_done(&writer);
    return r < 0 ? r : 1;
}

/* What a seat costs is said where it is given. */
void leg_seat_started(struct leg *leg)
{
    const struct words *parts = &leg->request.profile->home_writable;
    int seat = leg_seat(leg);
    char detail[512];
    size_t at;

    if (seat < 0)
        return;
    at = (size_t)snprintf(detail, sizeof(detail), "the seat home, writable ");
    if (leg->request.grants[seat].kind == GRANT_SEAT)
        at += (size_t)snprintf(detail + at, sizeof(detail) - at, "as a whole");
    for (uint32_t i = 0; leg->request.grants[seat].kind == GRANT_SEAT_READ && i < parts->count &&
                         at + 40 < sizeof(detail) - 240;
         i++)
        at += (size_t)snprintf(
            detail + at, sizeof(detail) - at, "%s%.40s", i ? ", " : "in ", parts->list[i]);
    (void)snprintf(detail + at, sizeof(detail) - at,
        ": this leg can change the settings, credentials and history in it that the next leg of "
        "%.32s starts with; a change of its settings is told",
        leg->request.profile->name);
    leg_tell(leg, EVENT_NOTE, REASON_NONE, NULL, leg->request.grants[seat].path, detail);
}
