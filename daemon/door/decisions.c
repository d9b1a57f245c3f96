#include "decisions.h"

#include "clock.h"
#include "text.h"
#include <errno.h>
#include <poll.h>
#include <string.h>

#define FOLDS_MAX 128
#define FOLD_MS 1000
#define GATHER_MS 5
#define WAITING_MAX 4096 /* told ends and starts that the channel had no room for */

struct fold {
    char subject[HOST_TEXT_MAX];
    char detail[200];
    enum reason reason;
    int64_t count, first_ms, last_ms;
    bool untold;
};

struct told {
    TAILQ_ENTRY(told) entry;
    struct seam_event event;
    char subject[HOST_TEXT_MAX];
    char detail[640];
};

struct decisions {
    struct fold folds[FOLDS_MAX];
    size_t n_folds;
    struct fold further; /* what found no place above */
    struct event *again, *soon, *writable;
    TAILQ_HEAD(, told) waiting;
    size_t n_waiting;
};

static int send_event(
    struct door *door, struct seam_event *event, const char *subject, const char *detail)
{
    struct seam_writer writer;
    int r;

    event->leg = door->leg;
    seam_writer_init(&writer, SEAM_DOOR_TOLD, 0);
    event->subject = seam_put_text(&writer, subject);
    event->detail = seam_put_text(&writer, detail);
    r = seam_send(DOOR_CHANNEL, &writer, event, NULL, 0);
    seam_writer_done(&writer);
    if (r == SEAM_E_CLOSED)
        (void)event_base_loopbreak(door->loop);
    return r;
}

/* ---- what the channel had no room for ---- */

static int send_waiting(struct door *door)
{
    struct decisions *decisions = door->decisions;
    struct told *told;

    while ((told = TAILQ_FIRST(&decisions->waiting))) {
        int r = send_event(door, &told->event, told->subject, told->detail);

        if (r == -EAGAIN)
            return r;
        TAILQ_REMOVE(&decisions->waiting, told, entry);
        decisions->n_waiting--;
        free(told);
    }
    return 0;
}

static void has_room(evutil_socket_t fd, short what, void *context)
{
    struct door *door = context;

    if (send_waiting(door) == -EAGAIN)
        (void)event_add(door->decisions->writable, NULL);
}

static void tell(
    struct door *door, struct seam_event *event, const char *subject, const char *detail)
{
    /* Not in the way of the bytes: whoever hears of it is woken once for what comes together. */
    static const struct timeval gather = {.tv_usec = GATHER_MS * 1000L};
    struct decisions *decisions = door->decisions;
    struct told *told;

    event->at_ms = clock_wall_ms();
    told = calloc(1, sizeof(*told));
    if (!told || decisions->n_waiting >= WAITING_MAX) {
        free(told);
        (void)event_base_loopbreak(door->loop); /* what cannot be told is not done: the leg ends */
        return;
    }
    told->event = *event;
    (void)strncpy(told->subject, subject, sizeof(told->subject) - 1);
    (void)strncpy(told->detail, detail ? detail : "", sizeof(told->detail) - 1);
    TAILQ_INSERT_TAIL(&decisions->waiting, told, entry);
    decisions->n_waiting++;
    if (!event_pending(decisions->soon, EV_TIMEOUT, NULL))
        (void)event_add(decisions->soon, &gather);
}

bool decisions_ready(const struct door *door)
{
    return door->decisions->n_waiting < WAITING_MAX / 4;
}

/* ---- refusals, folded ---- */

static void tell_fold(struct door *door, struct fold *fold)
{
    struct seam_event event = {.kind = EVENT_DENIED,
        .reason = fold->reason,
        .a = fold->count,
        .b = fold->first_ms,
        .c = fold->last_ms};

    fold->untold = false;
    tell(door, &event, fold->subject, fold->detail);
}

static void tell_folds(struct door *door)
{
    struct decisions *decisions = door->decisions;

    for (size_t i = 0; i < decisions->n_folds; i++) {
        if (decisions->folds[i].untold)
            tell_fold(door, &decisions->folds[i]);
    }
    if (decisions->further.untold)
        tell_fold(door, &decisions->further);
}

static void time_to_tell(evutil_socket_t fd, short what, void *context)
{
    tell_folds(context);
}

static struct fold *find_fold(
    struct decisions *decisions, const char *subject, enum reason reason, bool *ret_new)
{
    *ret_new = false;
    for (size_t i = 0; i < decisions->n_folds; i++) {
        if (decisions->folds[i].reason == reason &&
            text_equal(decisions->folds[i].subject, subject))
            return &decisions->folds[i];
    }
    if (decisions->n_folds == FOLDS_MAX)
        return &decisions->further;
    *ret_new = true;
    return &decisions->folds[decisions->n_folds++];
}

void decisions_refused(
    struct door *door, const char *subject, enum reason reason, const char *detail)
{
    static const struct timeval soon = {
        .tv_usec = FOLD_MS * 1000L % 1000000L, .tv_sec = FOLD_MS / 1000};
    struct decisions *decisions = door->decisions;
    int64_t now = clock_wall_ms();
    bool is_new;
    struct fold *fold = find_fold(decisions, subject, reason, &is_new);

    if (fold == &decisions->further) {
        if (fold->count == 0)
            fold->first_ms = now;
        (void)strcpy(fold->subject, "(further hosts)");
        fold->reason = reason;
    } else if (is_new) {
        *fold = (struct fold){.reason = reason, .first_ms = now};
        (void)strncpy(fold->subject, subject, sizeof(fold->subject) - 1);
    }
    memset(fold->detail, 0, sizeof(fold->detail));
    (void)strncpy(fold->detail, detail, sizeof(fold->detail) - 1);
    fold->count++;
    fold->last_ms = now;
    fold->untold = true;
    if (is_new)
        tell_fold(door, fold);
    else if (!event_pending(decisions->again, EV_TIMEOUT, NULL))
        (void)event_add(decisions->again, &soon);
}

/* ---- connections ---- */

void decisions_connected(
    struct door *door, uint64_t number, const char *subject, const char *detail)
{
    struct seam_event event = {.kind = EVENT_CONNECTED, .a = (int64_t)number};

    tell(door, &event, subject, detail);
}

void decisions_disconnected(struct door *door, uint64_t number, const char *subject,
    enum reason reason, uint64_t up, uint64_t down)
{
    struct seam_event event = {.kind = EVENT_DISCONNECTED,
        .reason = reason,
        .a = (int64_t)number,
        .b = (int64_t)up,
        .c = (int64_t)down};

    tell(door, &event, subject, NULL);
}

int decisions_dial(struct door *door, uint32_t forward, uint32_t serial)
{
    struct seam_door_dial dial = {.forward = forward, .serial = serial};
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, SEAM_DOOR_DIAL, 0);
    r = seam_send(DOOR_CHANNEL, &writer, &dial, NULL, 0);
    seam_writer_done(&writer);
    return r;
}

void decisions_flush(struct door *door)
{
    struct pollfd room = {.fd = DOOR_CHANNEL, .events = POLLOUT};

    tell_folds(door);
    while (send_waiting(door) == -EAGAIN) {
        if (poll(&room, 1, 1000) <= 0)
            return;
    }
}

int decisions_open(struct door *door)
{
    struct decisions *decisions = calloc(1, sizeof(*decisions));

    if (!decisions)
        return -ENOMEM;
    TAILQ_INIT(&decisions->waiting);
    door->decisions = decisions;
    decisions->again = evtimer_new(door->loop, time_to_tell, door);
    decisions->soon = evtimer_new(door->loop, has_room, door);
    decisions->writable = event_new(door->loop, DOOR_CHANNEL, EV_WRITE, has_room, door);
    return decisions->again && decisions->soon && decisions->writable ? 0 : -ENOMEM;
}
