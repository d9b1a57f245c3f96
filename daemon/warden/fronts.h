/* fronts.h - the processes that speak to clients: a few wait, one serves each connection. */
#pragma once

#include "accounts.h"
#include "backlog.h"
#include "program.h"
#include "showing.h"

struct front {
    TAILQ_ENTRY(front) entry;
    struct warden *warden;
    struct program_child child;
    struct event *readable, *writable, *ended;
    struct backlog backlog; /* messages that its channel has no room for yet */
    struct showings showings;
    uint32_t front_uid; /* its own identity, shared with no other front */
    bool serving;
    struct peer peer; /* who asks: read from the socket, never from a message */
    uint32_t peer_pid;
    struct account account; /* the peer's, of when it came */
    uint32_t n_open;        /* requests under way */
};

/* Starts fronts one more if fewer than options.fronts wait: REFILL_E_MORE then, else 0, -errno. */
int fronts_refill(struct warden *warden);

/* Does one wait, or can one be had? */
bool fronts_can_serve(const struct warden *warden);

/* Hands CONNECTION (not consumed) to a waiting front; starts one if none waits.  -errno: nobody has
 * it.  ACCOUNT, the peer's, is consumed. */
int fronts_serve(struct warden *warden, int connection, const struct peer *peer, uint32_t pid,
    struct account account);

/* How many connections UID has. */
uint32_t fronts_of(const struct warden *warden, uint32_t uid);

/* Ends the front and all it asked for that was not detached.  FRONT is gone after it. */
void front_drop(struct front *front);

/* Sends a message, now or when the channel has room; a front that takes none while BACKLOG_BYTES
 * wait for it is dropped: *returns false and FRONT is gone*. */
bool front_send(struct front *front, struct seam_writer *writer, const void *fixed,
    const int *descriptors, size_t n_descriptors);

/* SEAM_END with VALUE, the end of a reply. */
bool front_end_reply(struct front *front, uint64_t request, uint64_t value);

/* A refusal with one reason. */
bool front_refuse(struct front *front, uint64_t request, enum reason reason, const char *detail);

void fronts_close(struct warden *warden);
