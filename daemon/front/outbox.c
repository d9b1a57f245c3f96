#include "outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define CAPACITY (OUTBOX_ROOM + FRAME_HEADER + FRAME_MAX)

int outbox_init(struct outbox *outbox)
{
    uint8_t *bytes = malloc(CAPACITY);

    if (!bytes)
        return -ENOMEM;
    *outbox = (struct outbox){.bytes = bytes};
    return 0;
}

void outbox_done(struct outbox *outbox)
{
    free(outbox->bytes);
    outbox->bytes = NULL;
}

int outbox_put(struct outbox *outbox, const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);

    if (size > FRAME_MAX)
        return -EMSGSIZE;
    if (!outbox_has_room(outbox))
        return -ENOBUFS;
    if (FRAME_HEADER + size > CAPACITY - outbox->end) {
        memmove(outbox->bytes, outbox->bytes + outbox->start, outbox->end - outbox->start);
        outbox->end -= outbox->start;
        outbox->start = 0;
    }
    frame_put_length(outbox->bytes + outbox->end, (uint32_t)size);
    (void)protobuf_c_message_pack(message, outbox->bytes + outbox->end + FRAME_HEADER);
    outbox->end += FRAME_HEADER + size;
    return 0;
}

ssize_t outbox_flush(struct outbox *outbox, int client)
{
    size_t written = 0;

    while (!outbox_is_empty(outbox)) {
        ssize_t n = send(client, outbox->bytes + outbox->start, outbox->end - outbox->start,
            MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0)
            return -errno;
        outbox->start += (size_t)n;
        written += (size_t)n;
    }
    if (outbox_is_empty(outbox))
        outbox->start = outbox->end = 0;
    return (ssize_t)written;
}
