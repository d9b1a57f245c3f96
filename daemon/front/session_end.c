#include "session_state.h"

#include "encode.h"
#include <stdio.h>

static void close_sources(struct session *session)
{
    for (size_t i = 0; i < 2; i++)
        source_close(&session->sources[i]);
}

void session_end_request(struct session *session)
{
    close_sources(session);
    if (session->draining)
        seam_message_done(&session->last);
    session->draining = false;
    session->waiting = false;
    session->idle_since = session->now;
}

void session_start_closing(struct session *session)
{
    session_end_request(session);
    intake_reset(&session->intake);
    session->closing = true;
    session->closing_since = session->now;
}

int session_lose_warden(struct session *session)
{
    session->warden_gone = true;
    session_start_closing(session);
    return 0;
}

int session_refuse(
    struct session *session, uint64_t request, enum reason reason, const char *detail)
{
    struct refusal refusal = {.reason = reason};

    (void)snprintf(refusal.detail, sizeof(refusal.detail), "%s", detail);
    return encode_refusal(&refusal, request, &session->outbox);
}

int session_refuse_and_close(struct session *session, enum reason reason, const char *detail)
{
    int r = session_refuse(session, 0, reason, detail);

    session_start_closing(session);
    return r;
}

/* The channel's end says the same to the warden, so a full channel costs nothing. */
void session_tell_gone(struct session *session)
{
    struct seam_writer writer;
    struct seam_end end = {0};

    if (session->warden_gone)
        return;
    seam_writer_init(&writer, SEAM_CLIENT_GONE, session->sequence);
    (void)seam_send(session->channel, &writer, &end, NULL, 0);
    seam_writer_done(&writer);
}
