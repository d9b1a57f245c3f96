/* backlog.h - messages that a channel has no room for yet, in their order, within a bound. */
#pragma once

#include "messages.h"
#include <sys/queue.h>

#define BACKLOG_BYTES (4U << 20)
#define BACKLOG_FULL (2U << 20) /* what can be left out is, from here on */

struct backlog_entry;
TAILQ_HEAD(backlog_list, backlog_entry);

struct backlog {
    struct backlog_list entries;
    size_t bytes;
};

void backlog_init(struct backlog *backlog);
void backlog_done(struct backlog *backlog);

/* Sends at once if nothing waits and there is room: 0.  Else keeps it (WRITER is consumed either
 * way, descriptors are copied): -EAGAIN, call backlog_flush() when the channel is writable.
 * -EOVERFLOW: more would wait than BACKLOG_BYTES.  SEAM_E_*, -errno as seam_send(). */
int backlog_send(struct backlog *backlog, int channel, struct seam_writer *writer,
    const void *fixed, const int *descriptors, size_t n_descriptors);

/* Sends what waits.  0: nothing waits any more; -EAGAIN; SEAM_E_CLOSED, -errno. */
int backlog_flush(struct backlog *backlog, int channel);

bool backlog_is_empty(const struct backlog *backlog);
bool backlog_is_full(const struct backlog *backlog);
