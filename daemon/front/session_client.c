#include "session_state.h"

#include "decode.h"
#include "encode.h"
#include <errno.h>

/* Sends one request under a number of its own. */
static int send_ask(
    struct session *session, struct seam_writer *writer, const void *fixed, size_t n_descriptors)
{
    int r;

    session->sequence++;
    session->again_at = SESSION_NEVER;
    writer->header.request = session->sequence;
    r = seam_send(session->channel, writer, fixed, session->intake.descriptors, n_descriptors);
    if (r == SEAM_E_CLOSED)
        return session_lose_warden(session);
    return r > 0 ? -EMSGSIZE : r;
}

static int ask_warden(struct session *session, struct ask *ask)
{
    session->waiting = true;
    session->asked = ask->writer.header.type;
    session->detach = ask->detach;
    session->request = ask->request;
    session->followed =
        session->asked == SEAM_ASK_LOGS && ask->fixed.leg.follow ? ask->fixed.leg.leg : 0;
    session->kept_at = 0;
    return send_ask(session, &ask->writer, &ask->fixed, session->intake.n_descriptors);
}

int session_ask_again(struct session *session)
{
    const struct seam_ask_leg asked = {.leg = session->followed, .follow = 1};
    struct seam_writer writer;
    int r;

    if (!session->waiting || session->now < session->again_at)
        return 0;
    seam_writer_init(&writer, SEAM_ASK_LOGS, 0);
    r = send_ask(session, &writer, &asked, 0);
    seam_writer_done(&writer);
    return r;
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

int session_read_client(struct session *session)
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
        return session_refuse_and_close(session, REASON_REQUEST_MALFORMED, "frame: a length of 0");
    case INTAKE_E_TOO_BIG:
        return session_refuse_and_close(
            session, REASON_REQUEST_TOO_BIG, "frame: longer than a frame may be (131072 bytes)");
    case INTAKE_E_MISPLACED:
        return session_refuse_and_close(session, REASON_REQUEST_MALFORMED,
            "frame: descriptors that do not stand beside its first byte");
    case INTAKE_E_TOO_MANY:
        return session_refuse_and_close(session, REASON_REQUEST_MALFORMED,
            "frame: more descriptors than a frame may have (60)");
    case INTAKE_E_CONTROL:
        return session_refuse_and_close(
            session, REASON_REQUEST_MALFORMED, "frame: a control message that is not SCM_RIGHTS");
    case -EMFILE:
        return session_refuse_and_close(
            session, REASON_OUT_OF_RESOURCES, "frame: its descriptors: EMFILE");
    default:
        return r;
    }
}
