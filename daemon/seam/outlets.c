#include "outlets.h"

#include <string.h>

struct seam_host seam_put_host(struct seam_writer *writer, const struct host_pattern *pattern)
{
    struct seam_host host = {
        .kind = pattern->kind, .port = pattern->port, .family = pattern->address.family};

    memcpy(host.address, pattern->address.bytes, sizeof(host.address));
    host.name = seam_put_text(writer, pattern->name[0] ? pattern->name : NULL);
    return host;
}

bool seam_host(
    const struct seam_message *message, const struct seam_host *host, struct host_pattern *ret)
{
    const char *name = seam_text(message, host->name);
    struct host_pattern pattern = {.kind = (enum host_kind)host->kind};

    if (host->kind < HOST_EXACT || host->kind > HOST_ANY || host->port > UINT16_MAX ||
        host->family > 6 || (name && strlen(name) >= sizeof(pattern.name)))
        return false;
    pattern.port = (uint16_t)host->port;
    pattern.address.family = (uint8_t)host->family;
    memcpy(pattern.address.bytes, host->address, sizeof(host->address));
    if (name)
        memcpy(pattern.name, name, strlen(name) + 1);
    if (!host_pattern_is_canonical(&pattern, false))
        return false;
    *ret = pattern;
    return true;
}

struct seam_forward seam_put_forward(struct seam_writer *writer, const struct forward *forward)
{
    return (struct seam_forward){.kind = forward->kind,
        .port = forward->port,
        .host = seam_put_host(writer, &forward->host),
        .path = seam_put_text(writer, forward->path),
        .header = seam_put_text(writer, forward->header),
        .key = -1,
        .ca = -1};
}

bool seam_forward(
    const struct seam_message *message, const struct seam_forward *forward, struct forward *ret)
{
    struct forward out = {.kind = (enum forward_kind)forward->kind};

    if (forward->kind < FORWARD_TCP || forward->kind > FORWARD_TLS || forward->port == 0 ||
        forward->port > UINT16_MAX)
        return false;
    out.port = (uint16_t)forward->port;
    if (out.kind == FORWARD_UNIX)
        out.path = seam_text(message, forward->path);
    else if (!seam_host(message, &forward->host, &out.host))
        return false;
    out.header = out.kind == FORWARD_TLS ? seam_text(message, forward->header) : NULL;
    if (!forward_is_canonical(&out))
        return false;
    *ret = out;
    return true;
}
