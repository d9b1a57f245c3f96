/* forward.h - a forward: one loopback port of the leg that leads to one fixed target.  Pure. */
#pragma once

#include "hosts.h"

#define FORWARDS_MAX 16
#define FORWARD_HEADER_MAX 64 /* the name of a field, with its NUL */

/* The ports on which every door listens; no forward can have them. */
#define DOOR_PORT_HTTP 3128
#define DOOR_PORT_SOCKS 1080

enum forward_kind {
    FORWARD_TCP = 1,  /* PORT=HOST:PORT: bytes both ways */
    FORWARD_UNIX = 2, /* PORT=unix:PATH: a socket that the requester may connect to */
    FORWARD_TLS = 3,  /* PORT=https://HOST[:PORT]: plain HTTP in the leg, TLS to the host */
};

struct forward {
    enum forward_kind kind;
    uint16_t port;            /* in the leg */
    struct host_pattern host; /* TCP, TLS: EXACT or ADDRESS */
    const char *path;         /* UNIX: absolute, normal */
    const char *header;       /* TLS: the field that is added; NULL: none */
};

/* Reads "HOST:PORT", "unix:PATH" or "https://HOST[:PORT]" into RET's kind, host and path, which
 * points into TEXT.  -EINVAL. */
int forward_parse_target(const char *text, struct forward *ret);

/* May a field be called so: a token, and not one that says what the message is or where it ends. */
bool forward_header_fits(const char *name);

/* Holds what came in a message to the form of the above. */
bool forward_is_canonical(const struct forward *forward);

/* "8080=api.example.org:443", "8081=unix:/run/x.sock". */
#define FORWARD_TEXT_MAX 512
void forward_format(const struct forward *forward, char out[FORWARD_TEXT_MAX]);
