/* passage.h - one connection from the leg, from its first byte to its last. */
#pragma once

#include "door.h"
#include "http_head.h"

#define PASSAGE_ADDRESSES_MAX 4

enum passage_state {
    PASSAGE_HEAD,       /* what is asked for is being read */
    PASSAGE_RESOLVING,  /* its name is being resolved */
    PASSAGE_DIALING,    /* the warden has a socket connected as the requester */
    PASSAGE_CONNECTING, /* to one of its addresses */
    PASSAGE_SECURING,   /* TLS of our own is being spoken: FORWARD_TLS */
    PASSAGE_HELLO,      /* the first bytes of TLS are being read */
    PASSAGE_RELAY,      /* bytes go both ways */
    PASSAGE_ENDING,     /* answered or refused: what the client still sends is thrown away */
};

struct flow {
    uint64_t bytes;
    bool put_off;      /* its source has no more, and its sink is yet to be told */
    bool ended;        /* it was told */
    struct duct *duct; /* with what its sink did not take yet; or NULL */
};

struct resolution;
struct tls_relay;

struct passage {
    TAILQ_ENTRY(passage) entry;
    struct door *door;
    uint64_t number;
    enum passage_state state;
    enum door_way way;
    uint32_t forward; /* index, of WAY_FORWARD */
    bool greeted;     /* WAY_SOCKS: the greeting was answered */
    bool tunnel;      /* bytes are not looked at; else one request with a body */
    bool told;        /* its connection was told of */

    int client, server;
    struct event client_read, client_write, server_read, server_write, deadline;
    int64_t active_ms; /* when something last went through */

    struct host_pattern target;
    struct host_address addresses[PASSAGE_ADDRESSES_MAX];
    uint8_t n_addresses, at_address;
    struct resolution *resolution;

    char *buffer; /* from the client: the head, then what goes to the server first */
    uint32_t have, gone, capacity;

    struct flow up, down; /* out of the leg, into it */
    uint32_t thrown_away; /* PASSAGE_ENDING */
    enum http_body body;
    uint64_t body_left;
    struct http_chunks chunks;
    struct tls_relay *tls; /* tls_forward.c */
};

void passage_begin(struct door *door, struct outlet *outlet, int client);

/* Ends it, tells of its end.  PASSAGE is gone after it. */
void passage_close(struct passage *passage, enum reason reason);
/* One request was answered whole: tells of the end, and lets the program read all of the answer,
 * whatever it sent behind its request.  PASSAGE is on its way out after it. */
void passage_finish(struct passage *passage);
/* As passage_close() by a reset, both ways: what was cut off must not look like a whole answer. */
void passage_cut(struct passage *passage, enum reason reason);

/* Tells the warden and the program why not.  PASSAGE is on its way out after it. */
void passage_refuse(struct passage *passage, enum reason reason, const char *detail);
/* What the program asked for is known: passage->target. */
void passage_asked(struct passage *passage);
/* The same where a forward decided it. */
void passage_look_up(struct passage *passage);
/* The way stands: the warden is told. */
void passage_tell(struct passage *passage);
/* Of what was read behind the first FRONT bytes only HEAD's body is kept.  -EINVAL: it is none. */
int passage_keep_body(struct passage *passage, const struct http_head *head, size_t front);

/* -- asking.c: more of the client's bytes came, while its head or its TLS hello is read */
void passage_client_readable(evutil_socket_t fd, short what, void *context);

/* -- resolve.c; the answers come from the loop or at once -- */
void resolve_begin(struct passage *passage);
void resolve_cancel(struct passage *passage);
/* passage.c: ADDRESSES of the target's name; COUNT 0: it has none, as WHY says. */
void passage_resolved(
    struct passage *passage, const struct host_address *addresses, size_t count, const char *why);
/* passage.c: the socket that was dialed for, or -errno. */
void passage_dialed(struct door *door, uint32_t serial, int socket);

/* -- relay.c -- */
void relay_begin(struct passage *passage);
/* What was read before the way stood goes first.  1: all of it went; 0: not yet; -errno. */
int relay_first(struct passage *passage);
/* How much of SIZE bytes belongs to the request's body: -EINVAL, it is none.  Then: so much of it
 * went; true: it is whole. */
int64_t relay_body_part(const struct passage *passage, const char *bytes, size_t size);
bool relay_body_went(struct passage *passage, const char *bytes, size_t size);
/* Appends what the client sent to the buffer, at most MAX bytes in it.  0: nothing more now; 1:
 * some came; -ECONNRESET and others; -ENODATA: it ended; -E2BIG: MAX bytes are there. */
int passage_read(struct passage *passage, size_t max);
