/* leg_tell.c - what happens in a leg is told: to the ledger, and to whoever asked for the leg. */
#include "leg.h"

#include "clock.h"
#include "ledger.h"
#include <stdio.h>

/* What a leg can cause without end: the ledger has it all. */
static bool can_be_left_out(enum event_kind kind)
{
    return kind == EVENT_DENIED || kind == EVENT_CONNECTED || kind == EVENT_DISCONNECTED;
}

static void send_event(
    struct leg *leg, struct seam_event *event, const char *subject, const char *detail)
{
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_EVENT, leg->request_number);
    event->subject = seam_put_text(&writer, subject);
    event->detail = seam_put_text(&writer, detail);
    (void)front_send(leg->front, &writer, event, NULL, 0);
}

void leg_tell_left_out(struct leg *leg)
{
    struct seam_event note = {.leg = leg->id, .at_ms = clock_wall_ms(), .kind = EVENT_NOTE};
    char detail[128];

    if (leg->left_out == 0 || !leg->front)
        return;
    (void)snprintf(detail, sizeof(detail),
        "%u events were not told here, for their reader was behind: `saphan leg show %llu` has "
        "them",
        leg->left_out, (unsigned long long)leg->id);
    leg->left_out = 0;
    send_event(leg, &note, NULL, detail);
}

void leg_tell(struct leg *leg, enum event_kind kind, enum reason reason, const int64_t numbers[3],
    const char *subject, const char *detail)
{
    struct seam_event event = {.leg = leg->id,
        .at_ms = clock_wall_ms(),
        .kind = kind,
        .reason = reason,
        .a = numbers ? numbers[0] : 0,
        .b = numbers ? numbers[1] : 0,
        .c = numbers ? numbers[2] : 0};

    ledger_event(leg->warden->ledger, &event, &leg->events, subject, detail);
    if (leg->front && can_be_left_out(kind) && backlog_is_full(&leg->front->backlog)) {
        leg->left_out++;
        return;
    }
    leg_tell_left_out(leg);
    if (leg->front)
        send_event(leg, &event, subject, detail);
}
