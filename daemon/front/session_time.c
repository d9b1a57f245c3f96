#include "session_state.h"

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t idle_deadline(const struct session *session)
{
    if (session->closing || session->waiting || session->intake.have > 0 ||
        !outbox_is_empty(&session->outbox))
        return SESSION_NEVER;
    return session->idle_since + session->bounds->idle_us;
}

static uint64_t frame_deadline(const struct session *session)
{
    return session->intake.have > 0 ? session->frame_since + session->bounds->frame_us
                                    : SESSION_NEVER;
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
    uint64_t at = session->waiting ? session->again_at : SESSION_NEVER;

    if (!outbox_has_room(&session->outbox))
        return at;
    if (session->draining)
        return 0;
    for (size_t i = 0; i < 2; i++) {
        if (session->sources[i].kind == SOURCE_KEPT)
            at = earlier(at, session->kept_at);
    }
    return at;
}

int session_timeout_ms(const struct session *session)
{
    uint64_t at = earlier(over_deadline(session), frame_deadline(session));

    at = earlier(at, work_at(session));
    if (at == SESSION_NEVER)
        return -1;
    if (at <= session->now)
        return 0;
    return (int)earlier((at - session->now + 999) / 1000, 3600 * 1000);
}

int session_expire(struct session *session)
{
    if (session->now >= over_deadline(session)) {
        session->over = true;
        return 0;
    }
    if (session->now >= frame_deadline(session))
        return session_refuse_and_close(
            session, REASON_REQUEST_MALFORMED, "frame: not complete within its time");
    return 0;
}
