#include "forward.h"

#include "text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define UNIX_PATH_MAX_LENGTH 107 /* unix(7): sun_path with its NUL */

static int parse_host(const char *text, struct forward *ret)
{
    int r = host_pattern_parse(text, false, &ret->host);

    return r == 0 && ret->host.kind == HOST_BELOW ? -EINVAL : r;
}

int forward_parse_target(const char *text, struct forward *ret)
{
    if (text_starts_with(text, "unix:")) {
        ret->kind = FORWARD_UNIX;
        ret->path = text + strlen("unix:");
        return text_path_is_normal(ret->path) && strlen(ret->path) <= UNIX_PATH_MAX_LENGTH
                   ? 0
                   : -EINVAL;
    }
    if (text_starts_with(text, "https://")) {
        ret->kind = FORWARD_TLS;
        return parse_host(text + strlen("https://"), ret);
    }
    ret->kind = FORWARD_TCP;
    return parse_host(text, ret);
}

bool forward_header_fits(const char *name)
{
    static const char *const taken[] = {"Host", "Connection", "Content-Length", "Transfer-Encoding",
        "Keep-Alive", "TE", "Trailer", "Upgrade", "Expect", "Accept-Encoding", "Proxy-Connection",
        "Proxy-Authorization"};
    size_t length = strlen(name);

    if (length == 0 || length >= FORWARD_HEADER_MAX ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != length)
        return false;
    for (size_t i = 0; i < array_size(taken); i++) {
        if (strcasecmp(name, taken[i]) == 0)
            return false;
    }
    return true;
}

bool forward_is_canonical(const struct forward *forward)
{
    if (forward->port == 0 || forward->port == DOOR_PORT_HTTP || forward->port == DOOR_PORT_SOCKS)
        return false;
    if (forward->header && (forward->kind != FORWARD_TLS || !forward_header_fits(forward->header)))
        return false;
    if (forward->kind == FORWARD_UNIX)
        return forward->path && text_path_is_normal(forward->path) &&
               strlen(forward->path) <= UNIX_PATH_MAX_LENGTH;
    if (forward->kind != FORWARD_TCP && forward->kind != FORWARD_TLS)
        return false;
    return (forward->host.kind == HOST_EXACT || forward->host.kind == HOST_ADDRESS) &&
           host_pattern_is_canonical(&forward->host, false);
}

void forward_format(const struct forward *forward, char out[FORWARD_TEXT_MAX])
{
    char host[HOST_TEXT_MAX];

    if (forward->kind == FORWARD_UNIX) {
        (void)snprintf(out, FORWARD_TEXT_MAX, "%u=unix:%s", forward->port, forward->path);
        return;
    }
    host_pattern_format(&forward->host, host);
    (void)snprintf(out, FORWARD_TEXT_MAX, "%u=%s%s", forward->port,
        forward->kind == FORWARD_TLS ? "https://" : "", host);
}
