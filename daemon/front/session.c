/* session.c - the life of a connection, as a loop around poll(2).
 *
 *   idle ──frame──► waiting ──last message──► draining ──sources empty──► idle
 *     └── framing lost, warden gone ──► closing ──outbox empty──► over
 *
 * One request at a time: while one is outstanding no byte is read from the client, so what it sends
 * ahead waits in its own socket.  The end of its side is seen all the same (POLLRDHUP).
 */
#include "session.h"

#include "log.h"
#include "session_state.h"
#include <errno.h>

#define SECOND UINT64_C(1000000)
#define GONE (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)

const struct session_bounds session_bounds_standard = {
    .frame_us = 10 * SECOND,
    .idle_us = 60 * SECOND,
    .stall_us = 60 * SECOND,
    .follow_us = SECOND / 10,
    .again_us = SECOND / 2,
};

static void choose(const struct session *session, struct pollfd polled[POLL_COUNT])
{
    bool room = outbox_has_room(&session->outbox);
    bool listening = !session->closing && !session->waiting && room;

    polled[POLL_CLIENT] = (struct pollfd){session->client, POLLRDHUP, 0};
    if (listening)
        polled[POLL_CLIENT].events |= POLLIN;
    if (!outbox_is_empty(&session->outbox))
        polled[POLL_CLIENT].events |= POLLOUT;
    polled[POLL_CHANNEL] = (struct pollfd){
        session->closing || session->draining || !room ? -1 : session->channel, POLLIN, 0};
    for (size_t i = 0; i < 2; i++) {
        bool pipe = room && session->sources[i].kind == SOURCE_PIPE;

        polled[POLL_SOURCES + i] = (struct pollfd){pipe ? session->sources[i].fd : -1, POLLIN, 0};
    }
}

static int flush(struct session *session)
{
    ssize_t n = outbox_flush(&session->outbox, session->client);

    if (n == -EPIPE || n == -ECONNRESET) {
        session->over = true;
        return 0;
    }
    if (n < 0)
        return (int)n;
    if (n > 0 || outbox_is_empty(&session->outbox))
        session->progress_since = session->now;
    if (session->closing && outbox_is_empty(&session->outbox))
        session->over = true;
    return 0;
}

static int work(struct session *session, const struct pollfd polled[POLL_COUNT], bool draining)
{
    int r = 0;

    if (polled[POLL_CLIENT].revents & POLLIN)
        r = session_read_client(session);
    if (r == 0 && polled[POLL_CHANNEL].revents && !session->closing)
        r = session_read_channel(session);
    if (r == 0)
        r = session_ask_again(session);
    if (r == 0)
        r = session_pump_sources(session, polled, draining);
    if (r == 0)
        r = session_finish_request(session);
    return r;
}

static int turn(struct session *session)
{
    struct pollfd polled[POLL_COUNT];
    bool draining = session->draining;
    int r;

    choose(session, polled);
    r = poll(polled, POLL_COUNT, session_timeout_ms(session));
    if (r < 0)
        return errno == EINTR ? 0 : -errno;
    session->now = clock_monotonic_us();
    if (polled[POLL_CLIENT].revents & GONE) {
        session->over = true;
        return 0;
    }
    if (outbox_is_empty(&session->outbox))
        session->progress_since = session->now; /* a stall starts with the first byte that waits */
    r = work(session, polled, draining);
    if (r == 0)
        r = flush(session);
    if (r == 0 && !session->over)
        r = session_expire(session);
    return r;
}

int session_run_take(int channel, int client, const struct session_bounds *bounds)
{
    struct session session = {.channel = channel, .client = client, .bounds = bounds};
    int r;

    session.now = session.idle_since = session.progress_since = clock_monotonic_us();
    r = intake_init(&session.intake);
    if (r == 0)
        r = outbox_init(&session.outbox);
    while (r == 0 && !session.over)
        r = turn(&session);
    if (r < 0)
        log_error("the connection ends: %s", fault_errno_name(-r));
    session_tell_gone(&session);
    session_end_request(&session);
    intake_done(&session.intake);
    outbox_done(&session.outbox);
    close_fd(&session.client);
    return r;
}
