#include "encode.h"

#include "encode_body.h"
#include <errno.h>
#include <string.h>

/* Fixed parts, and room for every text escaped and every list element described. */
#define ARENA_SIZE(strings) (32768 + 28 * (size_t)(strings))
#define EVENT_TEXT_MAX 16384U
#define CLIENT_STATUS_OURS 125

static int encode_accepted(struct wording *wording, Saphan__V1__ServerFrame *frame)
{
    const struct seam_accepted *accepted = wording->message->fixed;
    Saphan__V1__Accepted *out = wording_array(wording, 1, sizeof(*out));

    if (!out)
        return 0;
    saphan__v1__accepted__init(out);
    out->leg = accepted->leg;
    frame->body_case = SAPHAN__V1__SERVER_FRAME__BODY_ACCEPTED;
    frame->accepted = out;
    return 0;
}

static int encode_refused(struct wording *wording, Saphan__V1__ServerFrame *frame)
{
    const struct seam_refused *refused = wording->message->fixed;
    Saphan__V1__Refused *out;
    Saphan__V1__Reason *reasons;

    if (refused->n_refusals > REFUSALS_MAX)
        return -EINVAL;
    out = wording_array(wording, 1, sizeof(*out));
    reasons = wording_array(wording, REFUSALS_MAX, sizeof(*reasons));
    if (!out || !reasons)
        return 0;
    saphan__v1__refused__init(out);
    out->reasons = wording_array(wording, REFUSALS_MAX, sizeof(*out->reasons));
    if (!out->reasons)
        return 0;
    out->n_reasons = refused->n_refusals;
    for (uint32_t i = 0; i < refused->n_refusals; i++) {
        wording_reason(refused->refusals[i].reason, &reasons[i]);
        reasons[i].detail = wording_bytes(wording, refused->refusals[i].detail);
        out->reasons[i] = &reasons[i];
    }
    out->client_status = refused->client_status;
    out->leg = refused->leg;
    frame->body_case = SAPHAN__V1__SERVER_FRAME__BODY_REFUSED;
    frame->refused = out;
    return 0;
}

static const char *event_kind_name(uint32_t kind)
{
    static const char *const names[] = {"", "accepted", "started", "denied", "artefact", "exited",
        "note", "connected", "disconnected", "door"};

    return kind < array_size(names) ? names[kind] : "";
}

static ProtobufCBinaryData cut(ProtobufCBinaryData bytes)
{
    if (bytes.len > EVENT_TEXT_MAX)
        bytes.len = EVENT_TEXT_MAX;
    return bytes;
}

static int encode_event(struct wording *wording, Saphan__V1__ServerFrame *frame)
{
    const struct seam_event *event = wording->message->fixed;
    Saphan__V1__Event *out = wording_array(wording, 1, sizeof(*out));

    if (event_kind_name(event->kind)[0] == '\0')
        return -EINVAL;
    if (!out)
        return 0;
    saphan__v1__event__init(out);
    out->leg = event->leg;
    out->at_ms = event->at_ms;
    out->kind = wording_constant(event_kind_name(event->kind));
    out->reason = wording_constant(reason_entry(event->reason)->slug);
    out->subject = cut(wording_bytes(wording, event->subject));
    out->detail = cut(wording_bytes(wording, event->detail));
    out->a = event->a;
    out->b = event->b;
    out->c = event->c;
    frame->body_case = SAPHAN__V1__SERVER_FRAME__BODY_EVENT;
    frame->event = out;
    return 0;
}

static int encode_end(struct wording *wording, Saphan__V1__ServerFrame *frame)
{
    const struct seam_end *end = wording->message->fixed;
    Saphan__V1__End *out = wording_array(wording, 1, sizeof(*out));

    if (!out)
        return 0;
    saphan__v1__end__init(out);
    out->value = end->value;
    frame->body_case = SAPHAN__V1__SERVER_FRAME__BODY_END;
    frame->end = out;
    return 0;
}

static encode_body *body_for(uint16_t type)
{
    switch (type) {
    case SEAM_ACCEPTED:
        return encode_accepted;
    case SEAM_REFUSED:
        return encode_refused;
    case SEAM_EVENT:
        return encode_event;
    case SEAM_VERDICT:
        return encode_verdict;
    case SEAM_LEG:
        return encode_leg;
    case SEAM_STATUS:
        return encode_status;
    case SEAM_RUNG:
        return encode_rung;
    case SEAM_RULE:
        return encode_rule;
    case SEAM_END:
        return encode_end;
    case SEAM_WHY:
        return encode_why;
    case SEAM_CELL:
        return encode_cell;
    case SEAM_ARM:
        return encode_arm;
    case SEAM_MACHINE:
        return encode_machine;
    case SEAM_PROPERTY:
        return encode_property;
    case SEAM_IMAGE:
        return encode_image;
    default:
        return NULL;
    }
}

static void start_frame(Saphan__V1__ServerFrame *frame, uint64_t request)
{
    saphan__v1__server_frame__init(frame);
    frame->protocol = FRAME_PROTOCOL;
    frame->request = request;
}

int encode_answer(const struct seam_message *message, uint64_t request, struct outbox *outbox)
{
    struct arena arena __attribute__((cleanup(arena_done_auto))) = {0};
    struct wording wording = {.message = message, .arena = &arena};
    encode_body *body = body_for(message->header.type);
    Saphan__V1__ServerFrame frame;
    int r;

    if (!body)
        return -EINVAL;
    r = arena_init(&arena, ARENA_SIZE(message->header.strings_size));
    if (r < 0)
        return r;
    start_frame(&frame, request);
    r = body(&wording, &frame);
    if (r == 0)
        r = wording.error;
    if (r < 0)
        return r;
    return outbox_put(outbox, &frame.base);
}

int encode_refusal(const struct refusal *refusal, uint64_t request, struct outbox *outbox)
{
    Saphan__V1__ServerFrame frame;
    Saphan__V1__Refused refused;
    Saphan__V1__Reason reason, *reasons[1] = {&reason};

    start_frame(&frame, request);
    saphan__v1__refused__init(&refused);
    wording_reason(refusal->reason, &reason);
    reason.detail =
        (ProtobufCBinaryData){strlen(refusal->detail), (uint8_t *)(uintptr_t)refusal->detail};
    refused.n_reasons = 1;
    refused.reasons = reasons;
    refused.client_status = CLIENT_STATUS_OURS;
    frame.body_case = SAPHAN__V1__SERVER_FRAME__BODY_REFUSED;
    frame.refused = &refused;
    return outbox_put(outbox, &frame.base);
}

int encode_output(uint32_t stream, const void *bytes, size_t size, uint64_t lost, uint64_t request,
    struct outbox *outbox)
{
    Saphan__V1__ServerFrame frame;
    Saphan__V1__Output output;

    start_frame(&frame, request);
    saphan__v1__output__init(&output);
    output.stream = stream;
    output.data = (ProtobufCBinaryData){size, (uint8_t *)(uintptr_t)bytes};
    output.lost = lost;
    frame.body_case = SAPHAN__V1__SERVER_FRAME__BODY_OUTPUT;
    frame.output = &output;
    return outbox_put(outbox, &frame.base);
}
