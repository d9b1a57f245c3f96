#include "session_state.h"

#include "encode.h"

int session_break_kept(struct session *session, uint32_t stream)
{
    int r = session_refuse(session, session->request, REASON_KEPT_BROKEN,
        stream == 1 ? "standard output" : "standard error");

    session_end_request(session);
    return r;
}

/* READY: poll(2) says that a pipe can be read.  DRAINING: the last message was there before it was
 * asked, so the leg's processes are gone, and a source that has nothing is empty for good. */
static int pump(struct session *session, struct source *source, bool ready, bool draining)
{
    int r = SOURCE_E_NOTHING;

    if (source->kind == SOURCE_KEPT || ready)
        r = source_pump(source, session->request, &session->outbox);
    if (r == SOURCE_E_BROKEN)
        return session_break_kept(session, source->stream);
    if (r == SOURCE_E_END || (r == SOURCE_E_NOTHING && draining)) {
        source_close(source);
        return 0;
    }
    if (r == SOURCE_E_NOTHING && source->kind == SOURCE_KEPT)
        session->kept_at = session->now + session->bounds->follow_us;
    return r < 0 ? r : 0;
}

int session_pump_sources(
    struct session *session, const struct pollfd polled[POLL_COUNT], bool draining)
{
    bool kept_due = session->draining || session->now >= session->kept_at;

    for (size_t i = 0; i < 2; i++) {
        struct source *source = &session->sources[i];
        bool asked = polled[POLL_SOURCES + i].fd >= 0;
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

int session_finish_request(struct session *session)
{
    int r;

    if (!session->draining || has_sources(session) || !outbox_has_room(&session->outbox))
        return 0;
    r = encode_answer(&session->last, session->request, &session->outbox);
    session_end_request(session);
    return r;
}
