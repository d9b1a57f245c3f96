#include "session_state.h"

#include "encode.h"
#include "own.h"
#include <errno.h>

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
    case SEAM_ASK_WHY:
        return type == SEAM_WHY;
    case SEAM_ASK_CELL:
    case SEAM_ASK_MATRIX:
        return type == SEAM_CELL || type == SEAM_ARM;
    case SEAM_ASK_MACHINE:
        return type == SEAM_MACHINE || type == SEAM_RUNG || type == SEAM_PROPERTY;
    case SEAM_ASK_IMAGE_ADD:
    case SEAM_ASK_IMAGES:
        return type == SEAM_IMAGE;
    default:
        return false;
    }
}

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

static int open_log(struct session *session, struct seam_message *message)
{
    const struct seam_log *log = message->fixed;
    struct source *source;
    int r;

    if (log->stream < 1 || log->stream > 2 || message->n_descriptors != 1)
        return -EPROTO;
    source = &session->sources[log->stream - 1];
    if (source->kind != SOURCE_NONE) /* asked again, and it is open already */
        return session->followed ? 0 : -EPROTO;
    r = source_open_kept_take(source, log->stream, steal_fd(&message->descriptors[0]));
    return r == SOURCE_E_BROKEN ? session_break_kept(session, log->stream) : r;
}

/* The end of a followed log that says that the leg still runs is no end yet. */
static bool goes_on(struct session *session, const struct seam_message *message)
{
    const struct seam_end *end = message->fixed;

    if (!session->followed || message->header.type != SEAM_END || end->value == 0)
        return false;
    session->again_at = session->now + session->bounds->again_us;
    return true;
}

static int pass_on(struct session *session, struct seam_message *message)
{
    uint16_t type = message->header.type;
    int r = 0;

    if (type == SEAM_LOG)
        return open_log(session, message);
    if (type == SEAM_ACCEPTED)
        r = open_pipes(session, message);
    if (r == 0)
        r = encode_answer(message, session->request, &session->outbox);
    if (r == 0 && type == SEAM_ACCEPTED && session->detach)
        session_end_request(session);
    return r;
}

static int take_answer(struct session *session, struct seam_message *message)
{
    if (!answers(session->asked, message->header.type))
        return -EPROTO;
    if (!ends_request(session->asked, message->header.type))
        return pass_on(session, message);
    if (goes_on(session, message))
        return 0;
    session->last = *message;
    *message = (struct seam_message){0};
    session->draining = true;
    return 0;
}

int session_read_channel(struct session *session)
{
    struct seam_message message;
    int r = seam_receive(session->channel, &message);

    if (r == SEAM_E_CLOSED)
        return session_lose_warden(session);
    if (r != 0)
        return r < 0 ? r : -EPROTO;
    /* An answer to a request that is over: a detached leg's events cross with our next request. */
    if (session->waiting && message.header.request == session->sequence)
        r = take_answer(session, &message);
    seam_message_done(&message);
    return r;
}
