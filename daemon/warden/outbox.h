/* outbox.h - messages that a channel has no room for yet, in their order, within a bound. */
#pragma once

#include "messages.h"
#include <sys/queue.h>

#define OUTBOX_BYTES (4U << 20)

struct outbox_entry;
TAILQ_HEAD(outbox_list, outbox_entry);

struct outbox {
    struct outbox_list entries;
    size_t bytes;
};

void outbox_init(struct outbox *outbox);
void outbox_done(struct outbox *outbox);

/* Sends at once if nothing waits and there is room: 0.  Else keeps it (WRITER is consumed either
 * way, descriptors are copied): -EAGAIN, call outbox_flush() when the channel is writable.
 * -EOVERFLOW: more would wait than OUTBOX_BYTES.  SEAM_E_*, -errno as seam_send(). */
int outbox_send(struct outbox *outbox, int channel, struct seam_writer *writer, const void *fixed,
    const int *descriptors, size_t n_descriptors);

/* Sends what waits.  0: nothing waits any more; -EAGAIN; SEAM_E_CLOSED, -errno. */
int outbox_flush(struct outbox *outbox, int channel);
