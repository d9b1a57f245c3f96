/* outbox.h - frames on their way to the client, in bounded memory.
 *
 * A source is asked for more only while outbox_has_room(): what a client does not read stays where
 * it is, in a pipe or at the warden, and holds up its own leg alone.
 */
#pragma once

#include "frame.h"
#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <sys/types.h>

#define OUTBOX_ROOM (256U * 1024U) /* above it no source is read */

struct outbox {
    uint8_t *bytes; /* OUTBOX_ROOM and one largest frame */
    size_t start, end;
};

/* -ENOMEM. */
int outbox_init(struct outbox *outbox);
void outbox_done(struct outbox *outbox);

static inline bool outbox_is_empty(const struct outbox *outbox)
{
    return outbox->start == outbox->end;
}

static inline bool outbox_has_room(const struct outbox *outbox)
{
    return outbox->end - outbox->start <= OUTBOX_ROOM;
}

/* Appends MESSAGE as one frame.  -EMSGSIZE: above FRAME_MAX; -ENOBUFS: there was no room. */
int outbox_put(struct outbox *outbox, const ProtobufCMessage *message);

/* Writes what the client takes now, without blocking.  Bytes written (0: it takes none), -errno;
 * -EPIPE and -ECONNRESET: it is gone. */
ssize_t outbox_flush(struct outbox *outbox, int client);
