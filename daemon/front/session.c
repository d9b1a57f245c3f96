/* session.c - the life of a connection, as a loop around poll(2).
 *
 *   idle ──frame──► waiting ──last message──► draining ──sources empty──► idle
 *     └── framing lost, warden gone ──► closing ──outbox empty──► over
 *
 * One request at a time: while one is outstanding no byte is read from the client, so what it sends
 * ahead waits in its own socket.  The end of its side is seen all the same (POLLRDHUP).
 */
#include "session.h"

#include "clock.h"
#include "decode.h"
#include "encode.h"
#include "intake.h"
#include "log.h"
#include "source.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define SECOND UINT64_C(1000000)
#define NEVER UINT64_MAX
#define GONE (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)

const struct session_bounds session_bounds_standard = {
    .frame_us = 10 * SECOND,
    .idle_us = 60 * SECOND,
    .stall_us = 60 * SECOND,
    .follow_us = SECOND / 10,
};

struct session {
    int channel, client;
    const struct session_bounds *bounds;
    struct intake intake;
    struct outbox outbox;
    struct source sources[2]; /* standard output and error */

    bool waiting;   /* a request is outstanding */
    uint16_t asked; /* its type */
    bool detach;
    uint64_t request;  /* the client's number */
    uint64_t sequence; /* ours, on the seam */

    bool draining; /* `last` goes out when the sources are empty */
    struct seam_message last;

    bool closing, warden_gone, over;
    uint64_t now;
    uint64_t frame_since, idle_since, progress_since, closing_since; /* each where it applies */
    uint64_t kept_at; /* when the kept files are looked at next */
};

enum { POLL_CLIENT, POLL_CHANNEL, POLL_SOURCES, POLL_COUNT = POLL_SOURCES + 2 };

/* ---- what may come when ---- */

static bool ends_request(uint16_t asked, uint16_t type)
{
    return type == SEAM_REFUSED || type == (asked == SEAM_ASK_RUN ? SEAM_VERDICT : SEAM_END);
}

static bool answers(uint16_t asked, uint16_t type)
{
    if (ends_request(asked, type))
        return true;
    switch (asked) {
    case SEAM_ASK_RUN:
        return type == SEAM_ACCEPTED || type == SEAM_EVENT;
    case SEAM_ASK_LEGS:
        return type == SEAM_LEG;
    case SEAM_ASK_SHOW:
        return type == SEAM_LEG || type == SEAM_EVENT || type == SEAM_VERDICT;
    case SEAM_ASK_LOGS:
        return type == SEAM_LOG;
    case SEAM_ASK_STATUS:
        return type == SEAM_STATUS || type == SEAM_RUNG || type == SEAM_RULE;
    default:
        return false;
    }
}

/* ---- endings ---- */

static void close_sources(struct session *session)
{
    for (size_t i = 0; i < 2; i++)
        source_close(&session->sources[i]);
}

static void end_request(struct session *session)
{
    close_sources(session);
    if (session->draining)
        seam_message_done(&session->last);
    session->draining = false;
    session->waiting = false;
    session->idle_since = session->now;
}

/* What is in the outbox still goes out, within the bounds; nothing else happens any more. */
static void start_closing(struct session *session)
{
    end_request(session);
    intake_reset(&session->intake);
    session->closing = true;
    session->closing_since = session->now;
}

static int lose_warden(struct session *session)
{
    session->warden_gone = true;
    start_closing(session);
    return 0;
}

static int refuse(struct session *session, uint64_t request, enum reason reason, const char *detail)
{
    struct refusal refusal = {.reason = reason};

    (void)snprintf(refusal.detail, sizeof(refusal.detail), "%s", detail);
    return encode_refusal(&refusal, request, &session->outbox);
}

static int refuse_and_close(struct session *session, enum reason reason, const char *detail)
{
    int r = refuse(session, 0, reason, detail);

    start_closing(session);
    return r;
}

/* ---- from the client ---- */

static int ask_warden(struct session *session, struct ask *ask)
{
    int r;

    session->sequence++;
    ask->writer.header.request = session->sequence;
    r = seam_send(session->channel, &ask->writer, &ask->fixed, session->intake.descriptors,
        session->intake.n_descriptors);
    if (r == SEAM_E_CLOSED)
        return lose_warden(session);
    if (r != 0)
        return r < 0 ? r : -EMSGSIZE;
    session->waiting = true;
    session->asked = ask->writer.header.type;
    session->detach = ask->detach;
    session->request = ask->request;
    session->kept_at = 0;
    return 0;
}

static int take_frame(struct session *session)
{
    struct refusal refusal = {0};
    struct ask ask;
    int r;

    session->idle_since = session->now;
    r = decode(intake_message(&session->intake), intake_size(&session->intake),
        session->intake.n_descriptors, &ask, &refusal);
    if (r == 0) {
        r = ask_warden(session, &ask);
        ask_done(&ask);
    } else if (r == DECODE_E_REFUSED) {
        r = encode_refusal(&refusal, ask.request, &session->outbox);
    }
    intake_reset(&session->intake);
    return r;
}

static int read_client(struct session *session)
{
    bool first = session->intake.have == 0;
    int r = intake_read(&session->intake, session->client);

    if (first && session->intake.have > 0)
        session->frame_since = session->now;
    switch (r) {
    case 0:
        return take_frame(session);
    case INTAKE_E_MORE:
        return 0;
    case INTAKE_E_CLOSED:
        session->over = true;
        return 0;
    case INTAKE_E_EMPTY:
        return refuse_and_close(session, REASON_REQUEST_MALFORMED, "frame: a length of 0");
    case INTAKE_E_TOO_BIG:
        return refuse_and_close(
            session, REASON_REQUEST_TOO_BIG, "frame: longer than a frame may be (131072 bytes)");
    case INTAKE_E_MISPLACED:
        return refuse_and_close(session, REASON_REQUEST_MALFORMED,
            "frame: descriptors that do not stand beside its first byte");
    case INTAKE_E_TOO_MANY:
        return refuse_and_close(session, REASON_REQUEST_MALFORMED,
            "frame: more descriptors than a frame may have (60)");
    case INTAKE_E_CONTROL:
        return refuse_and_close(
            session, REASON_REQUEST_MALFORMED, "frame: a control message that is not SCM_RIGHTS");
    default:
        return r;
    }
}

/* ---- from the warden ---- */

static int open_pipes(struct session *session, struct seam_message *message)
{
    const struct seam_accepted *accepted = message->fixed;
    size_t taken = 0;

    for (uint32_t i = 1; i <= 2; i++) {
        if (!accepted->stream_events[i])
            continue;
        if (taken == message->n_descriptors || session->sources[i - 1].kind != SOURCE_NONE)
            return -EPROTO;
        source_open_pipe_take(
            &session->sources[i - 1], i, steal_fd(&message->descriptors[taken++]));
    }
    return taken == message->n_descriptors && !accepted->stream_events[0] ? 0 : -EPROTO;
}

static int break_kept(struct session *session, uint32_t stream)
{
    int r = refuse(session, session->request, REASON_KEPT_BROKEN,
        stream == 1 ? "standard output" : "standard error");

    end_request(session);
    return r;
}

static int open_log(struct session *session, struct seam_message *message)
{
    const struct seam_log *log = message->fixed;
    int r;

    if (log->stream < 1 || log->stream > 2 || message->n_descriptors != 1 ||
        session->sources[log->stream - 1].kind != SOURCE_NONE)
        return -EPROTO;
    r = source_open_kept_take(
        &session->sources[log->stream - 1], log->stream, steal_fd(&message->descriptors[0]));
    return r == SOURCE_E_BROKEN ? break_kept(session, log->stream) : r;
}

static int take_answer(struct session *session, struct seam_message *message)
{
    uint16_t type = message->header.type;
    int r;

    if (!answers(session->asked, type) || session->draining)
        return -EPROTO;
    if (ends_request(session->asked, type)) {
        session->last = *message;
        *message = (struct seam_message){0};
        session->draining = true;
        return 0;
    }
    if (type == SEAM_LOG)
        return open_log(session, message);
    if (type == SEAM_ACCEPTED) {
        r = open_pipes(session, message);
        if (r < 0)
            return r;
    }
    r = encode_answer(message, session->request, &session->outbox);
    if (r == 0 && type == SEAM_ACCEPTED && session->detach)
        end_request(session);
    return r;
}

static int read_channel(struct session *session)
{
    struct seam_message message;
    int r = seam_receive(session->channel, &message);

    if (r == SEAM_E_CLOSED)
        return lose_warden(session);
    if (r != 0)
        return r < 0 ? r : -EPROTO;
    /* An answer to a request that is over: a detached leg's events cross with our next request. */
    if (session->waiting && message.header.request == session->sequence)
        r = take_answer(session, &message);
    seam_message_done(&message);
    return r;
}

/* ---- from the leg ---- */

/* READY: poll(2) says that a pipe can be read.  DRAINING: the last message was there before it was
 * asked, so the leg's processes are gone, and a source that has nothing is empty for good. */
static int pump(struct session *session, struct source *source, bool ready, bool draining)
{
    int r = SOURCE_E_NOTHING;

    if (source->kind == SOURCE_KEPT || ready)
        r = source_pump(source, session->request, &session->outbox);
    if (r == SOURCE_E_BROKEN)
        return break_kept(session, source->stream);
    if (r == SOURCE_E_END || (r == SOURCE_E_NOTHING && draining)) {
        source_close(source);
        return 0;
    }
    if (r == SOURCE_E_NOTHING && source->kind == SOURCE_KEPT)
        session->kept_at = session->now + session->bounds->follow_us;
    return r < 0 ? r : 0;
}

static int pump_sources(struct session *session, const struct pollfd *polled, bool draining)
{
    for (size_t i = 0; i < 2; i++) {
        struct source *source = &session->sources[i];
        bool asked = polled[POLL_SOURCES + i].fd >= 0;
        bool kept_due = session->draining || session->now >= session->kept_at;
        int r;

        if (source->kind == SOURCE_NONE || !outbox_has_room(&session->outbox))
            continue;
        if (source->kind == SOURCE_PIPE ? !asked : !kept_due)
            continue;
        r = pump(session, source, polled[POLL_SOURCES + i].revents != 0, draining);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool has_sources(const struct session *session)
{
    return session->sources[0].kind != SOURCE_NONE || session->sources[1].kind != SOURCE_NONE;
}

static int finish_request(struct session *session)
{
    int r;

    if (!session->draining || has_sources(session) || !outbox_has_room(&session->outbox))
        return 0;
    r = encode_answer(&session->last, session->request, &session->outbox);
    end_request(session);
    return r;
}

/* ---- time ---- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t idle_deadline(const struct session *session)
{
    if (session->closing || session->waiting || session->intake.have > 0 ||
        !outbox_is_empty(&session->outbox))
        return NEVER;
    return session->idle_since + session->bounds->idle_us;
}

static uint64_t frame_deadline(const struct session *session)
{
    return session->intake.have > 0 ? session->frame_since + session->bounds->frame_us : NEVER;
}

static uint64_t over_deadline(const struct session *session)
{
    uint64_t at = idle_deadline(session);

    if (!outbox_is_empty(&session->outbox))
        at = earlier(at, session->progress_since + session->bounds->stall_us);
    if (session->closing)
        at = earlier(at, session->closing_since + session->bounds->frame_us);
    return at;
}

/* When there is work that no descriptor will tell of. */
static uint64_t work_at(const struct session *session)
{
    uint64_t at = NEVER;

    if (!outbox_has_room(&session->outbox))
        return NEVER;
    if (session->draining)
        return 0;
    for (size_t i = 0; i < 2; i++) {
        if (session->sources[i].kind == SOURCE_KEPT)
            at = session->kept_at;
    }
    return at;
}

static int timeout_ms(const struct session *session)
{
    uint64_t at = earlier(over_deadline(session), frame_deadline(session));

    at = earlier(at, work_at(session));
    if (at == NEVER)
        return -1;
    if (at <= session->now)
        return 0;
    return (int)earlier((at - session->now + 999) / 1000, 3600 * 1000);
}

static int expire(struct session *session)
{
    if (session->now >= over_deadline(session)) {
        session->over = true;
        return 0;
    }
    if (session->now >= frame_deadline(session))
        return refuse_and_close(
            session, REASON_REQUEST_MALFORMED, "frame: not complete within its time");
    return 0;
}

/* ---- the loop ---- */

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

static int work(struct session *session, const struct pollfd *polled, bool draining)
{
    int r = 0;

    if (polled[POLL_CLIENT].revents & POLLIN)
        r = read_client(session);
    if (r == 0 && polled[POLL_CHANNEL].revents && !session->closing)
        r = read_channel(session);
    if (r == 0)
        r = pump_sources(session, polled, draining);
    if (r == 0)
        r = finish_request(session);
    return r;
}

static int turn(struct session *session)
{
    struct pollfd polled[POLL_COUNT];
    bool draining = session->draining;
    int r;

    choose(session, polled);
    r = poll(polled, POLL_COUNT, timeout_ms(session));
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
        r = expire(session);
    return r;
}

/* The channel's end says the same to the warden, so a full channel costs nothing. */
static void tell_gone(struct session *session)
{
    struct seam_writer writer;
    struct seam_end end = {0};

    if (session->warden_gone)
        return;
    seam_writer_init(&writer, SEAM_CLIENT_GONE, session->sequence);
    (void)seam_send(session->channel, &writer, &end, NULL, 0);
    seam_writer_done(&writer);
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
    tell_gone(&session);
    end_request(&session);
    intake_done(&session.intake);
    outbox_done(&session.outbox);
    close_fd(&session.client);
    return r;
}
