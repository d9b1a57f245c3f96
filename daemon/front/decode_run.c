#include "decode_run.h"

#include "capability.h"
#include "frame.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define VENDOR_MAX 64
#define FIELD_MAX 64

/* "run.grants[3].path" */
#define FIELD(name, ...)                                                                           \
    char name[FIELD_MAX];                                                                          \
    (void)snprintf(name, sizeof(name), __VA_ARGS__)

static int count_at_most(struct form *form, const char *field, size_t count, size_t max)
{
    if (count > max)
        return form_malformed(form, "%s: %zu, at most %zu", field, count, max);
    return 0;
}

/* An enum of proto/ is the same number in policy/; UNSET means the default. */
static int decode_choices(struct form *form, const Saphan__V1__Run *run, struct seam_run *out)
{
    int r;

    r = form_number(form, "run.boundary", (uint64_t)run->boundary, BOUNDARY_UNSET, BOUNDARY_NONE);
    if (r == 0)
        r = form_number(form, "run.view", (uint64_t)run->view, VIEW_UNSET, VIEW_HOST);
    if (r == 0)
        r = form_number(form, "run.net", (uint64_t)run->net, NET_UNSET, NET_LAST);
    if (r != 0)
        return r;
    out->boundary = (uint32_t)run->boundary;
    out->view = (uint32_t)run->view;
    out->net = (uint32_t)run->net;
    out->git = run->git != 0;
    out->detach = run->detach != 0;
    out->measure = run->measure != 0;
    return 0;
}

/* Puts the texts of ITEMS into the table.  CHECK may refuse one by its form. */
static int decode_list(struct form *form, const char *field, const ProtobufCBinaryData *items,
    size_t count,
    int (*check)(
        struct form *form, const char *field, const ProtobufCBinaryData *item, const char **ret),
    struct seam_writer *writer, struct seam_list *ret)
{
    auto_free const char **texts = calloc(count + 1, sizeof(*texts));

    if (!texts)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        FIELD(name, "%s[%zu]", field, i);
        int r = check(form, name, &items[i], &texts[i]);

        if (r != 0)
            return r;
    }
    *ret = seam_put_list(writer, texts, count);
    return 0;
}

static int check_argument(
    struct form *form, const char *field, const ProtobufCBinaryData *item, const char **ret)
{
    return form_text(form, field, item, FRAME_MAX, ret);
}

static int check_environment(
    struct form *form, const char *field, const ProtobufCBinaryData *item, const char **ret)
{
    int r = form_text(form, field, item, FRAME_MAX, ret);

    if (r == 0 && ((*ret)[0] == '=' || !strchr(*ret, '=')))
        return form_malformed(form, "%s: not NAME=VALUE", field);
    return r;
}

static int check_carve_out(
    struct form *form, const char *field, const ProtobufCBinaryData *item, const char **ret)
{
    return form_path(form, field, item, PATH_NORMAL, ret);
}

static int decode_lists(struct form *form, const Saphan__V1__Run *run, struct ask *ask)
{
    struct seam_run *out = &ask->fixed.run;
    const char *program = run->n_argv == 0 ? "image" : "";
    int r;

    if (run->n_argv == 0 && !run->image[0])
        return form_malformed(form, "run.argv: empty");
    r = run->n_argv == 0 ? 0 : form_text(form, "run.argv[0]", &run->argv[0], FRAME_MAX, &program);
    if (r == 0 && program[0] == '\0')
        r = form_malformed(form, "run.argv[0]: empty");
    if (r == 0)
        r = decode_list(
            form, "run.argv", run->argv, run->n_argv, check_argument, &ask->writer, &out->argv);
    if (r == 0)
        r = decode_list(
            form, "run.env", run->env, run->n_env, check_environment, &ask->writer, &out->env);
    if (r == 0)
        r = count_at_most(form, "run.carve_outs", run->n_carve_outs, CARVE_OUTS_MAX);
    if (r == 0)
        r = decode_list(form, "run.carve_outs", run->carve_outs, run->n_carve_outs, check_carve_out,
            &ask->writer, &out->carve_outs);
    return r;
}

static int decode_grant(
    struct form *form, const Saphan__V1__Grant *grant, size_t index, struct ask *ask)
{
    FIELD(kind, "run.grants[%zu].kind", index);
    FIELD(descriptor, "run.grants[%zu].descriptor", index);
    FIELD(path, "run.grants[%zu].path", index);
    FIELD(target, "run.grants[%zu].target", index);
    const char *text = "", *place = "";
    int32_t at = -1;
    int r;

    r = form_number(form, kind, (uint64_t)grant->kind, GRANT_READ, GRANT_GIT_COMMON);
    if (r == 0)
        r = form_descriptor(form, descriptor, grant->descriptor, &at);
    if (r == 0)
        r = form_path(form, path, &grant->path, at < 0 ? PATH_ABSOLUTE : PATH_ANY, &text);
    if (r == 0 && grant->target.len > 0)
        r = form_path(form, target, &grant->target, PATH_ABSOLUTE, &place);
    if (r != 0)
        return r;
    ask->fixed.run.grants[index].target = seam_put_text(&ask->writer, place[0] ? place : NULL);
    ask->fixed.run.grants[index].kind = (uint32_t)grant->kind;
    ask->fixed.run.grants[index].descriptor = at;
    ask->fixed.run.grants[index].path = seam_put_text(&ask->writer, text[0] ? text : NULL);
    return 0;
}

static int decode_grants(struct form *form, const Saphan__V1__Run *run, struct ask *ask)
{
    size_t of_kind[GRANT_GIT_COMMON + 1] = {0};

    if (run->n_grants > GRANTS_MAX)
        return form_refuse(
            form, REASON_GRANTS_TOO_MANY, "run.grants: %zu, at most %d", run->n_grants, GRANTS_MAX);
    for (size_t i = 0; i < run->n_grants; i++) {
        int r = decode_grant(form, run->grants[i], i, ask);

        if (r != 0)
            return r;
        of_kind[run->grants[i]->kind]++;
    }
    if (of_kind[GRANT_WORKSPACE] > 1 || of_kind[GRANT_SEAT] > 1)
        return form_malformed(
            form, "run.grants: more than one %s", of_kind[GRANT_SEAT] > 1 ? "seat" : "workspace");
    ask->fixed.run.n_grants = (uint32_t)run->n_grants;
    return 0;
}

static int decode_artefact(
    struct form *form, const Saphan__V1__Artefact *artefact, size_t index, struct ask *ask)
{
    FIELD(path, "run.artefacts[%zu].path", index);
    FIELD(sha256, "run.artefacts[%zu].sha256", index);
    const char *text;
    int r;

    r = form_path(form, path, &artefact->path, PATH_NORMAL, &text);
    if (r != 0)
        return r;
    if (artefact->sha256.len != 0 && artefact->sha256.len != 32)
        return form_malformed(form, "%s: %zu bytes, not 32", sha256, artefact->sha256.len);
    ask->fixed.run.artefacts[index].path = seam_put_text(&ask->writer, text);
    ask->fixed.run.artefacts[index].min_size = artefact->min_size;
    if (artefact->sha256.len > 0) {
        ask->fixed.run.artefacts[index].has_sha256 = 1;
        memcpy(ask->fixed.run.artefacts[index].sha256, artefact->sha256.data, 32);
    }
    return 0;
}

static int decode_artefacts(struct form *form, const Saphan__V1__Run *run, struct ask *ask)
{
    int r = count_at_most(form, "run.artefacts", run->n_artefacts, ARTEFACTS_MAX);

    for (size_t i = 0; r == 0 && i < run->n_artefacts; i++)
        r = decode_artefact(form, run->artefacts[i], i, ask);
    if (r == 0)
        ask->fixed.run.n_artefacts = (uint32_t)run->n_artefacts;
    return r;
}

/* Standard input comes from the client's descriptor or from nowhere; the others can be told as
 * events to a client that stays, or kept. */
static int decode_stream(
    struct form *form, const Saphan__V1__Stream *stream, size_t index, struct ask *ask)
{
    static const char *const names[] = {"input", "output", "error"};
    FIELD(mode, "run.standard_%s.mode", names[index]);
    FIELD(descriptor, "run.standard_%s.descriptor", names[index]);
    int32_t at = -1;
    int r;

    ask->fixed.run.streams[index].mode = STREAM_NULL;
    ask->fixed.run.streams[index].descriptor = -1;
    if (!stream)
        return 0;
    r = form_number(form, mode, (uint64_t)stream->mode, STREAM_NULL,
        index == 0 ? STREAM_DESCRIPTOR : STREAM_KEEP);
    if (r == 0)
        r = form_descriptor(form, descriptor, stream->descriptor, &at);
    if (r != 0)
        return r;
    if ((stream->mode == SAPHAN__V1__STREAM_MODE__STREAM_DESCRIPTOR) != (at >= 0))
        return form_malformed(
            form, "%s: %s", descriptor, at < 0 ? "absent" : "does not go with the mode");
    if (stream->mode == SAPHAN__V1__STREAM_MODE__STREAM_EVENTS && ask->fixed.run.detach)
        return form_malformed(form, "%s: events need a client that stays, not detach", mode);
    ask->fixed.run.streams[index].mode = (uint32_t)stream->mode;
    ask->fixed.run.streams[index].descriptor = at;
    return 0;
}

static int decode_streams(struct form *form, const Saphan__V1__Run *run, struct ask *ask)
{
    const Saphan__V1__Stream *streams[3] = {
        run->standard_input, run->standard_output, run->standard_error};
    int r = 0;

    for (size_t i = 0; r == 0 && i < 3; i++)
        r = decode_stream(form, streams[i], i, ask);
    return r;
}

static bool is_vendor_name(const char *name)
{
    return strlen(name) <= VENDOR_MAX && name[0] != '-' && name[0] != '.' &&
           name[strspn(
               name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] == '\0';
}

/* RFC 1123, and what sethostname(2) takes. */
static bool is_host_name(const char *name)
{
    return strlen(name) < 64 && name[0] != '-' && name[0] != '.' &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-")] ==
               '\0';
}

static int decode_capabilities(struct form *form, const Saphan__V1__Run *run, struct seam_run *out)
{
    for (size_t i = 0; i < run->n_capabilities; i++) {
        uint64_t bit;

        if (capability_parse(run->capabilities[i], &bit) < 0)
            return form_refuse(form, REASON_CAPABILITY_UNKNOWN,
                "asked: capability %.100s; known are %s", run->capabilities[i], CAPABILITY_NAMES);
        out->capabilities |= bit;
    }
    return 0;
}

static int decode_container(struct form *form, const Saphan__V1__Run *run, struct ask *ask)
{
    struct seam_run *out = &ask->fixed.run;

    if (strlen(run->image) > IMAGE_NAME_MAX)
        return form_malformed(form, "run.image: longer than %d bytes", IMAGE_NAME_MAX);
    if (strlen(run->user) > 128)
        return form_malformed(form, "run.user: longer than 128 bytes");
    if (!is_host_name(run->host_name))
        return form_malformed(form, "run.host_name: not the name of a host");
    out->image = seam_put_text(&ask->writer, run->image[0] ? run->image : NULL);
    out->user = seam_put_text(&ask->writer, run->user[0] ? run->user : NULL);
    out->host_name = seam_put_text(&ask->writer, run->host_name[0] ? run->host_name : NULL);
    out->writable_root = run->writable_root != 0;
    return decode_capabilities(form, run, out);
}

static int decode_rest(struct form *form, const Saphan__V1__Run *run, struct ask *ask)
{
    struct seam_run *out = &ask->fixed.run;
    const char *directory = "";
    int r = 0;

    if (run->transport[0] && strcmp(run->transport, "local") != 0)
        return form_refuse(
            form, REASON_TRANSPORT_UNAVAILABLE, "asked: transport %.100s", run->transport);
    if (!is_vendor_name(run->vendor))
        return form_malformed(form, "run.vendor: not the name of a vendor");
    if (run->chdir.len > 0)
        r = form_path(form, "run.chdir", &run->chdir, PATH_ABSOLUTE, &directory);
    if (r != 0)
        return r;
    r = decode_container(form, run, ask);
    if (r != 0)
        return r;
    out->vendor = seam_put_text(&ask->writer, run->vendor[0] ? run->vendor : NULL);
    out->chdir = seam_put_text(&ask->writer, directory[0] ? directory : NULL);
    if (run->limits)
        out->limits = (struct limits){.tasks = run->limits->tasks,
            .memory = run->limits->memory,
            .cpu_percent = run->limits->cpu_percent,
            .wall_ms = run->limits->wall_ms,
            .output = run->limits->output,
            .files = run->limits->files};
    return 0;
}

int decode_run(struct form *form, const Saphan__V1__Run *run, struct ask *ask)
{
    int r;

    seam_writer_init(&ask->writer, SEAM_ASK_RUN, 0);
    r = decode_choices(form, run, &ask->fixed.run);
    if (r == 0)
        r = decode_lists(form, run, ask);
    if (r == 0)
        r = decode_grants(form, run, ask);
    if (r == 0)
        r = decode_artefacts(form, run, ask);
    if (r == 0)
        r = decode_streams(form, run, ask);
    if (r == 0)
        r = decode_outlets(form, run, ask);
    if (r == 0)
        r = decode_rest(form, run, ask);
    if (r != 0)
        return r;
    if (ask->writer.error == SEAM_E_FULL)
        return form_refuse(form, REASON_REQUEST_TOO_BIG,
            "run: argv, env and paths are together more than %u bytes", SEAM_STRINGS_MAX);
    ask->detach = run->detach != 0;
    return ask->writer.error;
}
