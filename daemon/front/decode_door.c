#include "decode_run.h"

#include "outlets.h"
#include <stdio.h>

#define FIELD_MAX 64

/* "run.forwards[3].port" */
#define FIELD(name, ...)                                                                           \
    char name[FIELD_MAX];                                                                          \
    (void)snprintf(name, sizeof(name), __VA_ARGS__)

int decode_host(struct form *form, const char *field, const ProtobufCBinaryData *bytes,
    struct host_pattern *ret)
{
    const char *text;
    int r = form_text(form, field, bytes, HOST_TEXT_MAX, &text);

    if (r == 0 && host_pattern_parse(text, false, ret) < 0)
        r = form_malformed(form,
            "%s: no host: wanted HOST[:PORT], *.HOST[:PORT], ADDRESS[:PORT] or [ADDRESS6][:PORT]",
            field);
    return r;
}

static int decode_forward(
    struct form *form, const Saphan__V1__Forward *forward, size_t index, struct ask *ask)
{
    FIELD(port, "run.forwards[%zu].port", index);
    FIELD(target, "run.forwards[%zu].target", index);
    FIELD(key, "run.forwards[%zu].key", index);
    FIELD(authorities, "run.forwards[%zu].authorities", index);
    struct seam_forward *out = &ask->fixed.run.forwards[index];
    struct forward parsed = {0};
    int32_t key_at = -1, authorities_at = -1;
    const char *text;
    int r;

    r = form_number(form, port, forward->port, 1, UINT16_MAX);
    if (r == 0)
        r = form_text(form, target, &forward->target, FORWARD_TEXT_MAX, &text);
    if (r == 0)
        r = form_descriptor(form, key, forward->key, &key_at);
    if (r == 0)
        r = form_descriptor(form, authorities, forward->authorities, &authorities_at);
    if (r != 0)
        return r;
    parsed.port = (uint16_t)forward->port;
    if (forward_parse_target(text, &parsed) < 0)
        return form_malformed(
            form, "%s: wanted HOST:PORT, unix:PATH or https://HOST[:PORT]", target);
    parsed.header = forward->header[0] ? forward->header : NULL;
    if ((parsed.header != NULL) != (key_at >= 0) ||
        (parsed.kind != FORWARD_TLS && authorities_at >= 0) || !forward_is_canonical(&parsed))
        return form_malformed(form,
            "run.forwards[%zu]: the port is the door's own, or a header without its key, or one "
            "that cannot be, or a key or authorities without https",
            index);
    *out = seam_put_forward(&ask->writer, &parsed);
    out->key = key_at;
    out->ca = authorities_at;
    return 0;
}

int decode_outlets(struct form *form, const Saphan__V1__Run *run, struct ask *ask)
{
    int r = 0;

    if (run->n_allow > HOSTS_MAX || run->n_forwards > FORWARDS_MAX)
        return form_malformed(form, "run.allow, run.forwards: %zu and %zu, at most %d and %d",
            run->n_allow, run->n_forwards, HOSTS_MAX, FORWARDS_MAX);
    for (size_t i = 0; r == 0 && i < run->n_allow; i++) {
        FIELD(name, "run.allow[%zu]", i);
        struct host_pattern pattern;

        r = decode_host(form, name, &run->allow[i], &pattern);
        if (r == 0)
            ask->fixed.run.hosts[i] = seam_put_host(&ask->writer, &pattern);
    }
    for (size_t i = 0; r == 0 && i < run->n_forwards; i++)
        r = decode_forward(form, run->forwards[i], i, ask);
    ask->fixed.run.n_hosts = (uint32_t)run->n_allow;
    ask->fixed.run.n_forwards = (uint32_t)run->n_forwards;
    return r;
}
