#include "encode_body.h"
#include "frame.h"
#include "why.h"

#include <errno.h>

#define IMAGE_LIST_MAX 33000 /* bytes of a frame for each of an image's lists */

/* A leg's row holds at most this much of its command and of its grants; then `cut` is set. */
#define ARGV_BUDGET (FRAME_MAX / 2)
#define GRANTS_BUDGET (FRAME_MAX / 4)

static Saphan__V1__Claim *claim_with_rungs(
    struct wording *wording, enum claim_id claim, uint64_t rungs)
{
    Saphan__V1__Claim *out = wording_array(wording, 1, sizeof(*out));
    char **slugs = wording_array(wording, RUNG_COUNT, sizeof(*slugs));

    if (!out || !slugs)
        return NULL;
    saphan__v1__claim__init(out);
    out->slug = wording_constant(claim_slug(claim));
    out->meaning = wording_constant(claim_meaning(claim));
    out->rungs = slugs;
    for (unsigned int i = 0; i < RUNG_COUNT; i++) {
        if (rungs >> i & 1)
            slugs[out->n_rungs++] = wording_constant(rung_slug((enum rung_id)i));
    }
    return out;
}

static int add_claims(
    struct wording *wording, const struct seam_verdict *verdict, Saphan__V1__Verdict *out)
{
    out->claims = wording_array(wording, CLAIM_COUNT, sizeof(*out->claims));
    if (!out->claims)
        return 0;
    for (uint32_t i = 0; i < verdict->n_claims; i++) {
        if (verdict->claims[i].claim >= CLAIM_COUNT)
            return -EINVAL;
        out->claims[i] = claim_with_rungs(
            wording, (enum claim_id)verdict->claims[i].claim, verdict->claims[i].rungs);
    }
    out->n_claims = verdict->n_claims;
    return 0;
}

static void add_reasons(
    struct wording *wording, const struct seam_verdict *verdict, Saphan__V1__Verdict *out)
{
    Saphan__V1__Reason *reasons = wording_array(wording, VERDICT_REASONS_MAX, sizeof(*reasons));

    out->reasons = wording_array(wording, VERDICT_REASONS_MAX, sizeof(*out->reasons));
    if (!reasons || !out->reasons)
        return;
    for (uint32_t i = 0; i < verdict->n_reasons; i++) {
        wording_reason(verdict->reasons[i].reason, &reasons[i]);
        reasons[i].detail = wording_bytes(wording, verdict->reasons[i].detail);
        out->reasons[i] = &reasons[i];
    }
    out->n_reasons = verdict->n_reasons;
}

int encode_verdict(struct wording *wording, Saphan__V1__ServerFrame *frame)
{
    const struct seam_verdict *verdict = wording->message->fixed;
    Saphan__V1__Verdict *out = wording_array(wording, 1, sizeof(*out));

    if (verdict->n_reasons > VERDICT_REASONS_MAX || verdict->n_claims > CLAIM_COUNT ||
        verdict->colour > COLOUR_INDETERMINATE)
        return -EINVAL;
    if (!out)
        return 0;
    saphan__v1__verdict__init(out);
    out->leg = verdict->leg;
    out->colour = (Saphan__V1__Colour)verdict->colour;
    out->client_status = verdict->client_status;
    out->exited = verdict->wait_status >= 0;
    out->wait_status = out->exited ? (uint32_t)verdict->wait_status : 0;
    out->wall_us = verdict->wall_us;
    out->egress_cut = verdict->egress_cut != 0;
    out->kept = wording_string(wording, verdict->kept);
    frame->body_case = SAPHAN__V1__SERVER_FRAME__BODY_VERDICT;
    frame->verdict = out;
    add_reasons(wording, verdict, out);
    return add_claims(wording, verdict, out);
}

static Saphan__V1__Limits *limits_of(struct wording *wording, const struct limits *limits)
{
    Saphan__V1__Limits *out = wording_array(wording, 1, sizeof(*out));

    if (!out)
        return NULL;
    saphan__v1__limits__init(out);
    out->tasks = limits->tasks;
    out->memory = limits->memory;
    out->cpu_percent = limits->cpu_percent;
    out->wall_ms = limits->wall_ms;
    out->output = limits->output;
    out->files = limits->files;
    return out;
}

static void fill_leg(struct wording *wording, const struct seam_leg *leg, Saphan__V1__Leg *out)
{
    out->leg = leg->leg;
    out->uid = leg->uid;
    out->user = wording_string(wording, leg->user);
    out->state = (Saphan__V1__LegState)leg->state;
    out->colour = (Saphan__V1__Colour)leg->colour;
    out->boundary = (Saphan__V1__Boundary)leg->boundary;
    out->view = (Saphan__V1__View)leg->view;
    out->net = (Saphan__V1__Net)leg->net;
    out->vendor = wording_string(wording, leg->vendor);
    out->argv = wording_list(wording, leg->argv, ARGV_BUDGET, &out->n_argv, &out->cut);
    out->directory = wording_bytes(wording, leg->directory);
    out->grants = wording_list(wording, leg->grants, GRANTS_BUDGET, &out->n_grants, &out->cut);
    out->asked_ms = leg->asked_ms;
    out->ended_ms = leg->ended_ms;
    out->exited = leg->wait_status >= 0;
    out->wait_status = out->exited ? (uint32_t)leg->wait_status : 0;
    out->client_status = leg->client_status;
    out->reasons = wording_string(wording, leg->reasons);
    out->limits = limits_of(wording, &leg->limits);
    out->detach = leg->detach != 0;
}

int encode_leg(struct wording *wording, Saphan__V1__ServerFrame *frame)
{
    const struct seam_leg *leg = wording->message->fixed;
    Saphan__V1__Leg *out = wording_array(wording, 1, sizeof(*out));

    if (leg->state > LEG_ENDED || leg->colour > COLOUR_INDETERMINATE ||
        leg->boundary > BOUNDARY_NONE || leg->view > VIEW_HOST || leg->net > NET_LAST)
        return -EINVAL;
    if (!out)
        return 0;
    saphan__v1__leg__init(out);
    fill_leg(wording, leg, out);
    frame->body_case = SAPHAN__V1__SERVER_FRAME__BODY_LEG;
    frame->leg = out;
    return 0;
}

int encode_status(struct wording *wording, Saphan__V1__ServerFrame *frame)
{
    const struct seam_status *status = wording->message->fixed;
    Saphan__V1__StatusReport *out = wording_array(wording, 1, sizeof(*out));

    if (!out)
        return 0;
    saphan__v1__status_report__init(out);
    out->version = wording_string(wording, status->version);
    out->pid = status->pid;
    out->started_ms = status->started_ms;
    out->legs_running = status->legs_running;
    out->slots_ready = status->slots_ready;
    out->legs_since_start = status->legs_since_start;
    out->healthy = status->healthy != 0;
    out->denials_heard = status->denials_heard != 0;
    out->denials_told = status->denials_told;
    out->denials_unjoined = status->denials_unjoined;
    out->denials_lost = status->denials_lost;
    out->problem = wording_string(wording, status->problem);
    out->kernel = wording_string(wording, status->kernel);
    out->socket = wording_bytes(wording, status->socket);
    out->state_directory = wording_bytes(wording, status->state_directory);
    frame->body_case = SAPHAN__V1__SERVER_FRAME__BODY_STATUS;
    frame->status = out;
    return 0;
}

int encode_rung(struct wording *wording, Saphan__V1__ServerFrame *frame)
{
    const struct seam_rung *rung = wording->message->fixed;
    Saphan__V1__Rung *out = wording_array(wording, 1, sizeof(*out));

    if (rung->rung >= RUNG_COUNT || rung->state > RUNG_BROKEN)
        return -EINVAL;
    if (!out)
        return 0;
    saphan__v1__rung__init(out);
    out->slug = wording_constant(rung_slug((enum rung_id)rung->rung));
    out->state = wording_constant(rung_state_name((enum rung_state)rung->state));
    out->meaning = wording_constant(rung_meaning((enum rung_id)rung->rung));
    out->detail = wording_string(wording, rung->detail);
    out->value = rung->value;
    out->facet = wording_string(wording, rung->facet);
    out->error = rung->error;
    frame->body_case = SAPHAN__V1__SERVER_FRAME__BODY_RUNG;
    frame->rung = out;
    return 0;
}

int encode_rule(struct wording *wording, Saphan__V1__ServerFrame *frame)
{
    const struct seam_rule *rule = wording->message->fixed;
    Saphan__V1__Rule *out = wording_array(wording, 1, sizeof(*out));

    if (!out)
        return 0;
    saphan__v1__rule__init(out);
    out->name = wording_string(wording, rule->name);
    out->file = wording_bytes(wording, rule->file);
    out->boundaries = wording_string(wording, rule->boundaries);
    out->views = wording_string(wording, rule->views);
    out->nets = wording_string(wording, rule->nets);
    out->vendors = wording_string(wording, rule->vendors);
    out->read = wording_bytes(wording, rule->read);
    out->write = wording_bytes(wording, rule->write);
    out->limits = wording_string(wording, rule->limits);
    out->hosts = wording_bytes(wording, rule->hosts);
    out->capabilities = wording_string(wording, rule->capabilities);
    frame->body_case = SAPHAN__V1__SERVER_FRAME__BODY_RULE;
    frame->rule = out;
    return 0;
}

int encode_why(struct wording *wording, Saphan__V1__ServerFrame *frame)
{
    const struct seam_why *why = wording->message->fixed;
    Saphan__V1__WhyAnswer *out = wording_array(wording, 1, sizeof(*out));

    if (!out)
        return 0;
    saphan__v1__why_answer__init(out);
    out->leg = why->leg;
    out->path = wording_bytes(wording, why->path);
    out->read = why->read != 0;
    out->write = why->write != 0;
    out->execute = why->execute != 0;
    out->depends = why->depends != 0;
    out->decider = wording_constant(why_slug((enum why_kind)why->kind));
    out->area = wording_bytes(wording, why->area);
    out->meaning = wording_constant(why_meaning((enum why_kind)why->kind));
    frame->body_case = SAPHAN__V1__SERVER_FRAME__BODY_WHY;
    frame->why = out;
    return 0;
}

int encode_image(struct wording *wording, Saphan__V1__ServerFrame *frame)
{
    const struct seam_image *image = wording->message->fixed;
    Saphan__V1__Image *out = wording_array(wording, 1, sizeof(*out));

    if (!out)
        return 0;
    saphan__v1__image__init(out);
    out->name = wording_string(wording, image->name);
    out->owner = wording_string(wording, image->owner);
    out->uid = image->uid;
    out->digest = (ProtobufCBinaryData){DIGEST_BYTES, (uint8_t *)(uintptr_t)image->digest};
    out->architecture = wording_string(wording, image->architecture);
    out->user = wording_bytes(wording, image->user);
    out->directory = wording_bytes(wording, image->directory);
    out->env = wording_list(wording, image->env, IMAGE_LIST_MAX, &out->n_env, &out->cut);
    out->entrypoint =
        wording_list(wording, image->entrypoint, IMAGE_LIST_MAX, &out->n_entrypoint, &out->cut);
    out->command =
        wording_list(wording, image->command, IMAGE_LIST_MAX, &out->n_command, &out->cut);
    out->layers = image->n_layers;
    out->bytes = image->bytes;
    out->entries = image->entries;
    out->shared_bytes = image->shared_bytes;
    out->added_ms = image->added_ms;
    out->legs = image->legs;
    frame->body_case = SAPHAN__V1__SERVER_FRAME__BODY_IMAGE;
    frame->image = out;
    return 0;
}
