#include "answer.h"

#include "matrix_wire.h"

#include <errno.h>
#include <string.h>

/* A NUL inside would let a text say less than it holds: it breaks the protocol. */
static int read_bytes(struct arena *arena, const ProtobufCBinaryData *bytes, const char **ret)
{
    char *out;

    if (bytes->len > 0 && memchr(bytes->data, '\0', bytes->len))
        return SAPHAN_E_PROTOCOL;
    out = arena_copy(arena, bytes->data, bytes->len);
    if (!out)
        return -ENOMEM;
    *ret = out;
    return 0;
}

static int read_list(
    struct arena *arena, const ProtobufCBinaryData *items, size_t count, const char *const **ret)
{
    const char **out = arena_take(arena, (count + 1) * sizeof(*out));
    int r;

    if (!out)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        r = read_bytes(arena, &items[i], &out[i]);
        if (r != 0)
            return r;
    }
    *ret = out;
    return 0;
}

static int read_reasons(struct arena *arena, Saphan__V1__Reason *const *reasons, size_t count,
    const struct saphan_reason **ret)
{
    struct saphan_reason *out = arena_take(arena, (count + 1) * sizeof(*out));
    int r;

    if (!out)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        out[i].slug = reasons[i]->slug;
        out[i].meaning = reasons[i]->meaning;
        out[i].remedy = reasons[i]->remedy;
        r = read_bytes(arena, &reasons[i]->detail, &out[i].detail);
        if (r != 0)
            return r;
    }
    *ret = out;
    return 0;
}

static int read_claims(struct arena *arena, Saphan__V1__Claim *const *claims, size_t count,
    const struct saphan_claim **ret)
{
    struct saphan_claim *out = arena_take(arena, (count + 1) * sizeof(*out));

    if (!out)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const char **rungs = arena_take(arena, (claims[i]->n_rungs + 1) * sizeof(*rungs));

        if (!rungs)
            return -ENOMEM;
        for (size_t k = 0; k < claims[i]->n_rungs; k++)
            rungs[k] = claims[i]->rungs[k];
        out[i] = (struct saphan_claim){
            .slug = claims[i]->slug, .meaning = claims[i]->meaning, .rungs = rungs};
    }
    *ret = out;
    return 0;
}

static enum saphan_event_kind told_kind(const char *kind)
{
    static const char *const names[] = {
        "", "accepted", "started", "denied", "artefact", "exited", "note"};
    static const char *const doors[] = {"connected", "disconnected", "door"};

    for (unsigned int i = SAPHAN_EVENT_ACCEPTED; i <= SAPHAN_EVENT_NOTE; i++) {
        if (strcmp(names[i], kind) == 0)
            return (enum saphan_event_kind)i;
    }
    for (unsigned int i = 0; i < 3; i++) {
        if (strcmp(doors[i], kind) == 0)
            return (enum saphan_event_kind)(SAPHAN_EVENT_CONNECTED + i);
    }
    return SAPHAN_EVENT_OTHER;
}

static int read_told(struct arena *arena, const Saphan__V1__Event *event, struct saphan_event *ret)
{
    struct saphan_told *told = &ret->told;
    int r;

    ret->kind = told_kind(event->kind);
    ret->leg = event->leg;
    ret->at_ms = event->at_ms;
    told->kind = event->kind;
    told->reason = event->reason;
    if (ret->kind == SAPHAN_EVENT_STARTED)
        told->pid = event->a;
    if (ret->kind == SAPHAN_EVENT_DENIED) {
        told->count = event->a;
        told->first_ms = event->b;
        told->last_ms = event->c;
    }
    if (ret->kind == SAPHAN_EVENT_CONNECTED || ret->kind == SAPHAN_EVENT_DISCONNECTED) {
        told->connection = event->a;
        told->bytes_out = event->b;
        told->bytes_in = event->c;
    }
    if (ret->kind == SAPHAN_EVENT_ARTEFACT)
        told->size = event->a;
    if (ret->kind == SAPHAN_EVENT_EXITED) {
        told->wait_status = event->a;
        told->cpu_us = event->b;
        told->max_rss = event->c;
    }
    r = read_bytes(arena, &event->subject, &told->subject);
    return r != 0 ? r : read_bytes(arena, &event->detail, &told->detail);
}

static int read_accepted(const Saphan__V1__Accepted *accepted, struct saphan_event *ret)
{
    ret->kind = SAPHAN_EVENT_ACCEPTED;
    ret->leg = accepted->leg;
    ret->told.kind = "accepted";
    ret->told.reason = ret->told.subject = ret->told.detail = "";
    return 0;
}

static int read_refused(
    struct arena *arena, const Saphan__V1__Refused *refused, struct saphan_event *ret)
{
    ret->kind = SAPHAN_EVENT_REFUSED;
    ret->leg = refused->leg;
    ret->refused.client_status = (int)refused->client_status;
    ret->refused.n_reasons = refused->n_reasons;
    return read_reasons(arena, refused->reasons, refused->n_reasons, &ret->refused.reasons);
}

static int read_output(const Saphan__V1__Output *output, struct saphan_event *ret)
{
    if (output->stream != 1 && output->stream != 2)
        return SAPHAN_E_PROTOCOL;
    ret->kind = SAPHAN_EVENT_OUTPUT;
    ret->output.stream = output->stream;
    ret->output.bytes = output->data.data;
    ret->output.size = output->data.len;
    ret->output.lost = output->lost;
    return 0;
}

static int read_verdict(
    struct arena *arena, const Saphan__V1__Verdict *verdict, struct saphan_event *ret)
{
    struct saphan_verdict *out = &ret->verdict;
    int r;

    ret->kind = SAPHAN_EVENT_VERDICT;
    ret->leg = verdict->leg;
    out->colour = (enum saphan_colour)verdict->colour;
    out->client_status = verdict->client_status;
    out->exited = verdict->exited;
    out->wait_status = (int)verdict->wait_status;
    out->wall_us = verdict->wall_us;
    out->n_reasons = verdict->n_reasons;
    out->n_claims = verdict->n_claims;
    out->egress_cut = verdict->egress_cut;
    out->kept = verdict->kept;
    r = read_reasons(arena, verdict->reasons, verdict->n_reasons, &out->reasons);
    return r != 0 ? r : read_claims(arena, verdict->claims, verdict->n_claims, &out->claims);
}

static void read_limits(const Saphan__V1__Limits *limits, struct saphan_limits *ret)
{
    if (!limits)
        return;
    ret->tasks = limits->tasks;
    ret->memory = limits->memory;
    ret->cpu_percent = limits->cpu_percent;
    ret->wall_ms = limits->wall_ms;
    ret->output = limits->output;
    ret->files = limits->files;
}

static int read_leg(struct arena *arena, const Saphan__V1__Leg *leg, struct saphan_event *ret)
{
    struct saphan_leg *out = &ret->row;
    int r;

    ret->kind = SAPHAN_EVENT_LEG;
    ret->leg = leg->leg;
    out->uid = leg->uid;
    out->user = leg->user;
    out->state = (enum saphan_leg_state)leg->state;
    out->colour = (enum saphan_colour)leg->colour;
    out->boundary = (enum saphan_boundary)leg->boundary;
    out->view = (enum saphan_view)leg->view;
    out->net = (enum saphan_net)leg->net;
    out->vendor = leg->vendor;
    out->asked_ms = leg->asked_ms;
    out->ended_ms = leg->ended_ms;
    out->exited = leg->exited;
    out->wait_status = (int)leg->wait_status;
    out->client_status = leg->client_status;
    out->reasons = leg->reasons;
    out->detach = leg->detach;
    out->cut = leg->cut;
    read_limits(leg->limits, &out->limits);
    r = read_list(arena, leg->argv, leg->n_argv, &out->argv);
    if (r == 0)
        r = read_list(arena, leg->grants, leg->n_grants, &out->grants);
    return r != 0 ? r : read_bytes(arena, &leg->directory, &out->directory);
}

static int read_status(
    struct arena *arena, const Saphan__V1__StatusReport *status, struct saphan_event *ret)
{
    struct saphan_status *out = &ret->status;
    int r;

    ret->kind = SAPHAN_EVENT_STATUS;
    out->version = status->version;
    out->pid = status->pid;
    out->started_ms = status->started_ms;
    out->legs_running = status->legs_running;
    out->slots_ready = status->slots_ready;
    out->legs_since_start = status->legs_since_start;
    out->healthy = status->healthy;
    out->denials_heard = status->denials_heard;
    out->denials_told = status->denials_told;
    out->denials_unjoined = status->denials_unjoined;
    out->denials_lost = status->denials_lost;
    out->problem = status->problem;
    out->kernel = status->kernel;
    r = read_bytes(arena, &status->socket, &out->socket);
    return r != 0 ? r : read_bytes(arena, &status->state_directory, &out->state_directory);
}

static int read_rung(const Saphan__V1__Rung *rung, struct saphan_event *ret)
{
    ret->kind = SAPHAN_EVENT_RUNG;
    ret->rung = (struct saphan_rung){.slug = rung->slug,
        .state = rung->state,
        .meaning = rung->meaning,
        .detail = rung->detail,
        .value = rung->value,
        .facet = rung->facet,
        .error = rung->error};
    return 0;
}

static int read_machine(const Saphan__V1__MachineRow *row, struct saphan_event *ret)
{
    ret->kind = SAPHAN_EVENT_MACHINE;
    ret->at_ms = row->at_ms;
    ret->machine = (struct saphan_machine){.row = row->row,
        .at_ms = row->at_ms,
        .took_us = row->took_us,
        .kernel = row->kernel,
        .distribution = row->distribution,
        .boot_id = row->boot_id,
        .host = row->host,
        .version = row->version,
        .command = row->command};
    return 0;
}

static int read_property(const Saphan__V1__Property *property, struct saphan_event *ret)
{
    ret->kind = SAPHAN_EVENT_PROPERTY;
    ret->property = (struct saphan_property){.slug = property->slug,
        .state = property->state,
        .meaning = property->meaning,
        .detail = property->detail};
    return 0;
}

static int read_rule(struct arena *arena, const Saphan__V1__Rule *rule, struct saphan_event *ret)
{
    struct saphan_rule *out = &ret->rule;
    int r;

    ret->kind = SAPHAN_EVENT_RULE;
    out->name = rule->name;
    out->boundaries = rule->boundaries;
    out->views = rule->views;
    out->nets = rule->nets;
    out->vendors = rule->vendors;
    out->limits = rule->limits;
    out->capabilities = rule->capabilities;
    r = read_bytes(arena, &rule->file, &out->file);
    if (r == 0)
        r = read_bytes(arena, &rule->read, &out->read);
    if (r == 0)
        r = read_bytes(arena, &rule->hosts, &out->hosts);
    return r != 0 ? r : read_bytes(arena, &rule->write, &out->write);
}

static int read_why(struct arena *arena, const Saphan__V1__WhyAnswer *why, struct saphan_event *ret)
{
    struct saphan_why *out = &ret->why;
    int r;

    ret->kind = SAPHAN_EVENT_WHY;
    ret->leg = why->leg;
    out->decider = why->decider;
    out->meaning = why->meaning;
    out->read = why->read;
    out->write = why->write;
    out->execute = why->execute;
    out->depends = why->depends;
    r = read_bytes(arena, &why->path, &out->path);
    return r != 0 ? r : read_bytes(arena, &why->area, &out->area);
}

static int read_image(struct arena *arena, const Saphan__V1__Image *image, struct saphan_event *ret)
{
    struct saphan_image *out = &ret->image;
    int r;

    ret->kind = SAPHAN_EVENT_IMAGE;
    out->name = image->name;
    out->owner = image->owner;
    out->uid = image->uid;
    out->architecture = image->architecture;
    out->layers = image->layers;
    out->bytes = image->bytes;
    out->entries = image->entries;
    out->shared_bytes = image->shared_bytes;
    out->added_ms = image->added_ms;
    out->legs = image->legs;
    out->cut = image->cut;
    if (image->digest.len == sizeof(out->digest))
        memcpy(out->digest, image->digest.data, sizeof(out->digest));
    r = read_bytes(arena, &image->user, &out->user);
    if (r == 0)
        r = read_bytes(arena, &image->directory, &out->directory);
    if (r == 0)
        r = read_list(arena, image->env, image->n_env, &out->env);
    if (r == 0)
        r = read_list(arena, image->entrypoint, image->n_entrypoint, &out->entrypoint);
    return r != 0 ? r : read_list(arena, image->command, image->n_command, &out->command);
}

static int read_for_cells(void *context, const ProtobufCBinaryData *bytes, const char **ret)
{
    return read_bytes(context, bytes, ret);
}

static int read_body(const Saphan__V1__ServerFrame *frame, struct arena *arena, bool *ret_known,
    struct saphan_event *ret)
{
    switch (frame->body_case) {
    case SAPHAN__V1__SERVER_FRAME__BODY_ACCEPTED:
        return read_accepted(frame->accepted, ret);
    case SAPHAN__V1__SERVER_FRAME__BODY_REFUSED:
        return read_refused(arena, frame->refused, ret);
    case SAPHAN__V1__SERVER_FRAME__BODY_EVENT:
        return read_told(arena, frame->event, ret);
    case SAPHAN__V1__SERVER_FRAME__BODY_OUTPUT:
        return read_output(frame->output, ret);
    case SAPHAN__V1__SERVER_FRAME__BODY_VERDICT:
        return read_verdict(arena, frame->verdict, ret);
    case SAPHAN__V1__SERVER_FRAME__BODY_LEG:
        return read_leg(arena, frame->leg, ret);
    case SAPHAN__V1__SERVER_FRAME__BODY_STATUS:
        return read_status(arena, frame->status, ret);
    case SAPHAN__V1__SERVER_FRAME__BODY_RUNG:
        return read_rung(frame->rung, ret);
    case SAPHAN__V1__SERVER_FRAME__BODY_RULE:
        return read_rule(arena, frame->rule, ret);
    case SAPHAN__V1__SERVER_FRAME__BODY_WHY:
        return read_why(arena, frame->why, ret);
    case SAPHAN__V1__SERVER_FRAME__BODY_MACHINE:
        return read_machine(frame->machine, ret);
    case SAPHAN__V1__SERVER_FRAME__BODY_PROPERTY:
        return read_property(frame->property, ret);
    case SAPHAN__V1__SERVER_FRAME__BODY_IMAGE:
        return read_image(arena, frame->image, ret);
    case SAPHAN__V1__SERVER_FRAME__BODY_CELL:
        return cells_read_cell(read_for_cells, arena, frame->cell, ret);
    case SAPHAN__V1__SERVER_FRAME__BODY_ARM:
        return cells_read_arm(read_for_cells, arena, frame->arm, ret);
    case SAPHAN__V1__SERVER_FRAME__BODY_END:
        ret->kind = SAPHAN_EVENT_END;
        ret->value = frame->end->value;
        return 0;
    default:
        *ret_known = false;
        return 0;
    }
}

static bool ends(
    const struct saphan_event *event, const Saphan__V1__ServerFrame *frame, enum asked asked)
{
    if (event->kind == SAPHAN_EVENT_REFUSED || event->kind == SAPHAN_EVENT_END)
        return true;
    if (event->kind == SAPHAN_EVENT_VERDICT)
        return asked == ASKED_RUN || asked == ASKED_RUN_DETACHED;
    return frame->body_case == SAPHAN__V1__SERVER_FRAME__BODY_ACCEPTED &&
           asked == ASKED_RUN_DETACHED;
}

int answer_read(const Saphan__V1__ServerFrame *frame, enum asked asked, struct arena *arena,
    bool *ret_known, struct saphan_event *ret)
{
    struct saphan_event event = {.request = frame->request};
    bool known = true;
    int r;

    r = read_body(frame, arena, &known, &event);
    if (r != 0)
        return r;
    event.last = known && ends(&event, frame, asked);
    *ret_known = known;
    *ret = event;
    return 0;
}
