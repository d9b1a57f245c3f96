/* leg_row.c - when a leg's row is written, and that its client hears of it.
 *
 * A row is durable before anything of the leg can have an effect: before its stub may put a
 * placeholder on disk, and before GO.  A durable commit waits for the disk and is much of what a
 * leg costs, so a row that need not be there yet waits for the next commit, which takes all along.
 */
#include "ledger.h"
#include "leg.h"
#include "legs.h"
#include "log.h"
#include <errno.h>
#include <string.h>

/* ACCEPTED goes out when the row is durable, with the read ends of the streams sent as events. */
bool leg_tell_accepted(struct leg *leg)
{
    struct seam_accepted accepted = {.leg = leg->id};
    int reads[3];
    size_t n_reads = 0;
    struct seam_writer writer;
    bool sent;

    if (!leg->front)
        return true;
    for (size_t i = 0; i < 3; i++) {
        if (leg->stream_reads[i] < 0)
            continue;
        accepted.stream_events[i] = 1;
        reads[n_reads++] = leg->stream_reads[i];
    }
    seam_writer_init(&writer, SEAM_ACCEPTED, leg->request_number);
    sent = front_send(leg->front, &writer, &accepted, reads, n_reads);
    /* A front that is gone took its legs with it: LEG is not looked at again. */
    if (!sent)
        return false;
    for (size_t i = 0; i < 3; i++)
        close_fd(&leg->stream_reads[i]);
    if (leg->request.detach) {
        leg->front->n_open--;
        leg->front = NULL;
    }
    return true;
}

/* In one commit, or none of them. */
static int write_rows(struct warden *warden)
{
    struct leg *leg;
    int r = ledger_begin(warden->ledger, &warden->rows);

    if (r < 0)
        log_error("ledger: rows from leg %llu on: %s",
            (unsigned long long)TAILQ_FIRST(&warden->rows)->id, strerror(-r));
    TAILQ_FOREACH(leg, &warden->rows, row_entry)
    leg->recorded = r == 0;
    return r;
}

/* One that could not be written ends its leg; its stub is building, so when that is dead.  To tell
 * one may be the end of its front, which takes its other legs along: those leave the list. */
static void tell_rows(struct warden *warden, int result)
{
    struct leg *leg;

    while ((leg = TAILQ_FIRST(&warden->rows))) {
        leg_row_forget(leg);
        if (result < 0)
            leg_kill(leg, REASON_LEDGER_FAILED);
        else if (leg_tell_accepted(leg))
            leg_go_ahead(leg);
    }
}

void leg_row_wait(struct leg *leg)
{
    TAILQ_INSERT_TAIL(&leg->warden->rows, leg, row_entry);
    leg->row_waits = true;
}

void leg_row_forget(struct leg *leg)
{
    if (!leg->row_waits)
        return;
    TAILQ_REMOVE(&leg->warden->rows, leg, row_entry);
    leg->row_waits = false;
}

void leg_row_due(struct leg *leg)
{
    if (leg->row_waits)
        tell_rows(leg->warden, write_rows(leg->warden));
}

int leg_row_write(struct leg *leg)
{
    int r;

    leg_row_wait(leg);
    r = write_rows(leg->warden);
    leg_row_forget(leg);
    tell_rows(leg->warden, r);
    return r;
}
