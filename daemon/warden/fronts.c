#include "fronts.h"

#include "images.h"
#include "legs.h"
#include "log.h"
#include "measuring.h"
#include "monitor.h"
#include "refill.h"
#include "undertaker.h"
#include "zygotes.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Ids that no leg, user or service has: each front is a stranger to every other. */
#define FRONT_UID_BASE 0x6fff0000U
#define FRONT_UIDS 2048U

static void front_free(struct front *front)
{
    if (front->readable)
        event_free(front->readable);
    if (front->writable)
        event_free(front->writable);
    if (front->ended)
        event_free(front->ended);
    backlog_done(&front->backlog);
    zygote_forget(front->warden->front_zygote, front);
    program_end(front->warden, &front->child, NOBODY);
    account_done(&front->account);
    free(front);
}

static uint32_t free_uid(const struct warden *warden)
{
    uint8_t used[FRONT_UIDS] = {0};
    const struct front *front;

    TAILQ_FOREACH(front, &warden->fronts_ready, entry)
    used[front->front_uid - FRONT_UID_BASE] = 1;
    TAILQ_FOREACH(front, &warden->fronts_serving, entry)
    used[front->front_uid - FRONT_UID_BASE] = 1;
    for (uint32_t i = 0; i < FRONT_UIDS; i++) {
        if (!used[i])
            return FRONT_UID_BASE + i;
    }
    return 0;
}

void front_drop(struct front *front)
{
    struct warden *warden = front->warden;

    measuring_forget(front);
    if (front->serving) {
        TAILQ_REMOVE(&warden->fronts_serving, front, entry);
        warden->n_fronts_serving--;
        legs_front_gone(warden, front);
        images_front_gone(warden, front);
    } else {
        TAILQ_REMOVE(&warden->fronts_ready, front, entry);
        warden->n_fronts_ready--;
        refill_later(warden);
    }
    front_free(front);
}

static void front_readable(evutil_socket_t fd, short what, void *context)
{
    struct front *front = context;
    struct seam_message message;
    int r;

    r = seam_receive(front->child.channel, &message);
    if (r == -EAGAIN)
        return;
    if (r == -EMFILE && front->serving) {
        (void)front_refuse(front, message.header.request, REASON_OUT_OF_RESOURCES,
            "step admit: the request's descriptors: EMFILE");
        return;
    }
    if (r != 0) {
        if (r != SEAM_E_CLOSED)
            log_error("front of uid %u: %s: dropped", front->peer.uid,
                r < 0 ? fault_errno_name(-r) : "broken message");
        front_drop(front);
        return;
    }
    monitor_take(front, &message);
}

static void front_ended(evutil_socket_t fd, short what, void *context)
{
    front_drop(context);
}

static void front_writable(evutil_socket_t fd, short what, void *context)
{
    struct front *front = context;
    int r = backlog_flush(&front->backlog, front->child.channel);

    if (r == -EAGAIN)
        (void)event_add(front->writable, NULL);
    else if (r != 0)
        front_drop(front);
    else
        showings_go_on(front);
}

static int front_watch(struct front *front)
{
    struct event_base *loop = front->warden->loop;

    front->readable =
        event_new(loop, front->child.channel, EV_READ | EV_PERSIST, front_readable, front);
    front->writable = event_new(loop, front->child.channel, EV_WRITE, front_writable, front);
    if (!front->readable || !front->writable || event_add(front->readable, NULL) < 0)
        return -ENOMEM;
    return 0;
}

static void front_born(void *context, int error, pid_t pid, int pidfd)
{
    struct front *front = context;

    front->child.pid = pid;
    front->child.pidfd = pidfd;
    if (error == 0) {
        front->ended = event_new(front->warden->loop, pidfd, EV_READ, front_ended, front);
        if (front->ended && event_add(front->ended, NULL) == 0)
            return;
        error = ENOMEM;
    }
    log_error("front: %s", strerror(error));
    front_drop(front);
}

/* It has its channel before it is born: what is said meanwhile waits there. */
static int order(struct front *front)
{
    const struct seam_bear bear = {.value = front->front_uid};
    auto_close int theirs = -EBADF;
    int pair[2], r;

    r = seam_channel_pair(pair);
    if (r < 0)
        return r;
    front->child.channel = pair[0];
    theirs = pair[1];
    if (fcntl(front->child.channel, F_SETFL, O_NONBLOCK) < 0)
        return -errno;
    r = front_watch(front);
    if (r < 0)
        return r;
    return zygote_bear(front->warden->front_zygote, &bear, theirs, -EBADF, front_born, front);
}

static int front_start(struct warden *warden, struct front **ret)
{
    struct front *front = calloc(1, sizeof(*front));
    int r;

    if (!front)
        return -ENOMEM;
    front->warden = warden;
    front->child = (struct program_child){.pidfd = -EBADF, .channel = -EBADF};
    backlog_init(&front->backlog);
    front->front_uid = free_uid(warden);
    r = front->front_uid == 0 ? -EUSERS : order(front);
    if (r < 0) {
        front_free(front);
        return r;
    }
    TAILQ_INSERT_TAIL(&warden->fronts_ready, front, entry);
    warden->n_fronts_ready++;
    if (ret)
        *ret = front;
    return 0;
}

int fronts_refill(struct warden *warden)
{
    int r;

    if (warden->n_fronts_ready >= warden->options.fronts)
        return 0;
    r = front_start(warden, NULL);
    return r < 0 ? r : REFILL_E_MORE;
}

bool fronts_can_serve(const struct warden *warden)
{
    return !TAILQ_EMPTY(&warden->fronts_ready) || zygote_is_there(warden->front_zygote);
}

int fronts_serve(struct warden *warden, int connection, const struct peer *peer, uint32_t pid,
    struct account account)
{
    struct front *front = TAILQ_FIRST(&warden->fronts_ready);
    struct seam_serve serve = {.uid = peer->uid, .pid = pid};
    struct seam_writer writer;
    int r;

    if (!front) {
        r = front_start(warden, &front);
        if (r < 0) {
            account_done(&account);
            return r;
        }
    }
    refill_soon(warden);
    TAILQ_REMOVE(&warden->fronts_ready, front, entry);
    warden->n_fronts_ready--;
    TAILQ_INSERT_TAIL(&warden->fronts_serving, front, entry);
    warden->n_fronts_serving++;
    front->serving = true;
    front->peer = *peer;
    front->account = account;
    front->peer.home = account.home;
    front->peer_pid = pid;
    seam_writer_init(&writer, SEAM_SERVE, 0);
    (void)front_send(front, &writer, &serve, &connection, 1);
    return 0;
}

uint32_t fronts_of(const struct warden *warden, uint32_t uid)
{
    const struct front *front;
    uint32_t count = 0;

    TAILQ_FOREACH(front, &warden->fronts_serving, entry)
    count += front->peer.uid == uid;
    return count;
}

bool front_send(struct front *front, struct seam_writer *writer, const void *fixed,
    const int *descriptors, size_t n_descriptors)
{
    int r = backlog_send(
        &front->backlog, front->child.channel, writer, fixed, descriptors, n_descriptors);

    if (r == 0)
        return true;
    if (r == -EAGAIN && event_add(front->writable, NULL) == 0)
        return true;
    if (r != SEAM_E_CLOSED)
        log_warning("front of uid %u takes no messages (%d): dropped", front->peer.uid, r);
    front_drop(front);
    return false;
}

bool front_end_reply(struct front *front, uint64_t request, uint64_t value)
{
    struct seam_end end = {.value = value};
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_END, request);
    return front_send(front, &writer, &end, NULL, 0);
}

bool front_refuse(struct front *front, uint64_t request, enum reason reason, const char *detail)
{
    struct seam_refused refused = {.n_refusals = 1, .client_status = 125};
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_REFUSED, request);
    refused.refusals[0].reason = reason;
    refused.refusals[0].detail = seam_put_text(&writer, detail);
    return front_send(front, &writer, &refused, NULL, 0);
}

void fronts_close(struct warden *warden)
{
    struct front *front;

    while ((front = TAILQ_FIRST(&warden->fronts_ready)))
        front_drop(front);
    while ((front = TAILQ_FIRST(&warden->fronts_serving)))
        front_drop(front);
}
