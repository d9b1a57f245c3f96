/* ledger_ends.c - the outcome of a leg, as an amendment of its row.
 *
 * An outcome that cannot be written (the disk is full) is not lost: it waits here and is tried
 * again until it is.  Only legs whose row was written wait, so their number is bounded by the
 * policy. */
#include "ledger.h"

#include "clock.h"
#include "ledger_private.h"
#include "log.h"
#include "verdicts.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct timeval retry_after = {.tv_sec = 1};

struct late_end {
    STAILQ_ENTRY(late_end) entry;
    uint64_t leg;
    int64_t ended_ms, colour, wait_status, client_status, wall_us;
    char *kept; /* NULL: no output was */
    uint32_t n_reasons;
    struct {
        uint32_t reason;
        char *detail;
    } reasons[VERDICT_REASONS_MAX];
};

static void end_free(struct late_end *end)
{
    if (!end)
        return;
    for (uint32_t i = 0; i < end->n_reasons; i++)
        free(end->reasons[i].detail);
    free(end->kept);
    free(end);
}
DEFINE_AUTO(struct late_end *, end_free);

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    if (text)
        (void)sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
    else
        (void)sqlite3_bind_null(statement, at);
}

static int update_end(struct ledger *ledger, const struct late_end *end)
{
    sqlite3_stmt *s = ledger->statements[STATEMENT_END];
    const int64_t numbers[] = {
        end->ended_ms, end->colour, end->wait_status, end->client_status, end->wall_us};

    for (size_t i = 0; i < array_size(numbers); i++)
        (void)sqlite3_bind_int64(s, (int)i + 1, numbers[i]);
    bind_text(s, 6, end->kept);
    (void)sqlite3_bind_int64(s, 7, (int64_t)end->leg);
    return ledger_run(ledger, STATEMENT_END);
}

static int insert_reason(struct ledger *ledger, const struct late_end *end, uint32_t number)
{
    sqlite3_stmt *s = ledger->statements[STATEMENT_REASON];

    (void)sqlite3_bind_int64(s, 1, (int64_t)end->leg);
    (void)sqlite3_bind_int64(s, 2, number);
    bind_text(s, 3, reason_entry(end->reasons[number].reason)->slug);
    bind_text(s, 4, end->reasons[number].detail);
    return ledger_run(ledger, STATEMENT_REASON);
}

static int forget_intents(struct ledger *ledger, uint64_t leg)
{
    (void)sqlite3_bind_int64(ledger->statements[STATEMENT_FORGET_INTENTS], 1, (int64_t)leg);
    return ledger_run(ledger, STATEMENT_FORGET_INTENTS);
}

static int write_end(struct ledger *ledger, const struct late_end *end)
{
    int r = ledger_start(ledger);

    if (r == 0)
        r = update_end(ledger, end);
    for (uint32_t i = 0; r == 0 && i < end->n_reasons; i++)
        r = insert_reason(ledger, end, i);
    if (r == 0)
        r = forget_intents(ledger, end->leg);
    if (r == 0)
        return ledger_commit(ledger);
    ledger_roll_back(ledger);
    return r;
}

static void write_late(evutil_socket_t fd, short what, void *context)
{
    struct ledger *ledger = context;
    struct late_end *end;

    while ((end = STAILQ_FIRST(&ledger->late))) {
        if (write_end(ledger, end) < 0) {
            (void)event_add(ledger->retry, &retry_after);
            return;
        }
        log_info("leg %llu: ledger: its outcome is recorded now", (unsigned long long)end->leg);
        STAILQ_REMOVE_HEAD(&ledger->late, entry);
        end_free(end);
    }
}

int ledger_ends_open(struct ledger *ledger, struct event_base *loop)
{
    STAILQ_INIT(&ledger->late);
    ledger->retry = evtimer_new(loop, write_late, ledger);
    return ledger->retry ? 0 : -ENOMEM;
}

void ledger_ends_close(struct ledger *ledger)
{
    struct late_end *end;

    if (!ledger->retry)
        return;
    write_late(-1, 0, ledger);
    while ((end = STAILQ_FIRST(&ledger->late))) {
        log_error("leg %llu: ledger: its outcome is lost", (unsigned long long)end->leg);
        STAILQ_REMOVE_HEAD(&ledger->late, entry);
        end_free(end);
    }
    event_free(ledger->retry);
}

static void add_reason(struct late_end *end, uint32_t reason, const char *detail)
{
    end->reasons[end->n_reasons].reason = reason;
    end->reasons[end->n_reasons++].detail = detail ? strdup(detail) : NULL;
}

/* Takes END over. */
static void record_take(struct ledger *ledger, struct late_end *end)
{
    int r;

    end->ended_ms = clock_wall_ms();
    r = write_end(ledger, end);
    if (r == 0) {
        end_free(end);
        return;
    }
    log_error("leg %llu: ledger: its outcome could not be recorded yet: %s",
        (unsigned long long)end->leg, strerror(-r));
    STAILQ_INSERT_TAIL(&ledger->late, end, entry);
    (void)event_add(ledger->retry, &retry_after);
}

static struct late_end *end_new(uint64_t leg)
{
    struct late_end *end = calloc(1, sizeof(*end));

    if (end)
        end->leg = leg;
    else
        log_error("leg %llu: ledger: no memory for its outcome", (unsigned long long)leg);
    return end;
}

void ledger_end(struct ledger *ledger, const struct leg *leg, const struct verdict *verdict)
{
    auto_(end_free) struct late_end *end = end_new(leg->id);
    char kept[VERDICT_KEPT_MAX], detail[REFUSAL_DETAIL_MAX + 4096];
    const char *text = verdict_kept(leg, kept, sizeof(kept));

    if (!end)
        return;
    end->colour = verdict->colour;
    end->wait_status = leg->ending.exited ? leg->ending.wait_status : -1;
    end->client_status = verdict->client_status;
    end->wall_us = (int64_t)(leg->gone_us - leg->asked_us);
    end->kept = text ? strdup(text) : NULL;
    for (uint32_t i = 0; i < verdict->n_reasons; i++)
        add_reason(
            end, verdict->reasons[i], verdict_detail(leg, verdict, i, detail, sizeof(detail)));
    record_take(ledger, steal_ptr(end));
}

void ledger_refused(struct ledger *ledger, uint64_t leg, uint32_t reason, const char *detail,
    uint32_t client_status)
{
    struct late_end *end = end_new(leg);

    if (!end)
        return;
    end->colour = COLOUR_REFUSED;
    end->wait_status = -1;
    end->client_status = client_status;
    add_reason(end, reason, detail);
    record_take(ledger, end);
}
