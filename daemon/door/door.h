/* door.h - the one context of saphan-door: one leg's list, its forwards, its open connections.
 *
 * listener.c accepts, passage.c takes a connection from its first byte to its last, resolve.c finds
 * and checks addresses, relay.c moves bytes, decisions.c tells the warden.
 */
#pragma once

#include "ducts.h"
#include "messages.h"
#include "own.h"
#include "waiting.h"
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <sys/queue.h>

#define DOOR_PASSAGES_MAX 1000
#define DOOR_SCRATCH_BYTES (256U * 1024U)
#define DOOR_LOCKED_HEAD 9216U /* a header as a line */
#define DOOR_LOCKED_BYTES (40U * 1024U)
#define DOOR_CHANNEL 3

struct passage;
struct names;
struct tls_client;
TAILQ_HEAD(passage_list, passage);

enum door_way {
    WAY_HTTP,
    WAY_SOCKS,
    WAY_FORWARD,
};

struct outlet { /* one listening socket */
    struct door *door;
    int fd;
    enum door_way way;
    uint32_t forward; /* index, of WAY_FORWARD */
    struct event *readable;
};

struct door_forward {
    struct forward forward;
    struct host_pattern on_list; /* what of it the address check counts as named */
    struct tls_client *tls;      /* FORWARD_TLS */
    char *path, *header;         /* owned: what FORWARD points to */
};

struct decisions;

struct door {
    struct event_base *loop;
    struct evdns_base *dns;
    struct names *names; /* resolve.c */
    struct event *channel;
    struct waiting waiting;
    bool serving;
    uint64_t leg;

    struct host_pattern hosts[HOSTS_MAX];
    size_t n_hosts;
    struct door_forward forwards[FORWARDS_MAX];
    size_t n_forwards;
    struct outlet outlets[DOOR_LISTENERS_MAX];
    size_t n_outlets;

    struct passage_list passages;
    size_t n_passages;
    uint64_t next_passage;
    struct decisions *decisions;

    struct duct_list ducts; /* that nobody has */
    struct duct all_ducts[DUCTS_MAX];

    char *locked; /* DOOR_LOCKED_BYTES, of a door with a header to add: where heads are put together
                   */
    char scratch[DOOR_SCRATCH_BYTES]; /* what is on its way through, within one call */
};

/* -- serve.c -- */

/* Takes the leg's list, forwards and sockets over.  0, or -errno with the fault filled. */
int door_serve(struct door *door, struct seam_message *message, struct fault *ret_fault);
/* What becomes of open connections when the list is changed. */
void door_allow(struct door *door, const struct host_pattern *pattern);
void door_deny(struct door *door, const struct host_pattern *pattern);

/* -- listener.c -- */
int outlet_open(struct door *door, struct outlet *outlet, int fd, enum door_way way);
