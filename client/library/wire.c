#include "wire.h"

#include "own.h"
#include "rights.h"
#include "saphan.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define WIRE_FIRST 4096U /* nearly every frame is smaller */

void wire_done(struct wire *wire)
{
    close_fd(&wire->fd);
    free(wire->in);
    wire->in = NULL;
}

static int send_rest(int fd, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = send(fd, bytes, size, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        bytes += n;
        size -= (size_t)n;
    }
    return 0;
}

/* The descriptors travel beside the first byte, so a short first send still carries them all. */
static int send_first(
    int fd, const uint8_t *bytes, size_t size, const int *fds, size_t n_fds, size_t *ret_sent)
{
    RIGHTS_SPACE(FRAME_DESCRIPTORS_MAX) control;
    struct iovec iov = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t n;

    rights_put(&message, &control, fds, n_fds);
    do
        n = sendmsg(fd, &message, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    *ret_sent = (size_t)n;
    return 0;
}

int wire_send(struct wire *wire, const Saphan__V1__ClientFrame *frame, const int *fds, size_t n_fds)
{
    size_t size = saphan__v1__client_frame__get_packed_size(frame), sent;
    auto_free uint8_t *bytes = NULL;
    int r;

    if (size > FRAME_MAX || n_fds > FRAME_DESCRIPTORS_MAX)
        return SAPHAN_E_TOO_BIG;
    bytes = malloc(FRAME_HEADER + size);
    if (!bytes)
        return -ENOMEM;
    frame_put_length(bytes, (uint32_t)size);
    (void)saphan__v1__client_frame__pack(frame, bytes + FRAME_HEADER);
    r = send_first(wire->fd, bytes, FRAME_HEADER + size, fds, n_fds, &sent);
    if (r < 0)
        return r;
    return send_rest(wire->fd, bytes + sent, FRAME_HEADER + size - sent);
}

/* Length of the message that begins the buffer; 0 with *RET_WHOLE false while the header is short.
 */
static uint32_t next_length(const struct wire *wire, bool *ret_known)
{
    *ret_known = wire->in_to - wire->in_from >= FRAME_HEADER;
    return *ret_known ? frame_get_length(wire->in + wire->in_from) : 0;
}

static int make_room(struct wire *wire)
{
    size_t held = wire->in_to - wire->in_from, wanted;
    uint8_t *in;
    bool known;
    uint32_t length;

    length = next_length(wire, &known);
    if (known && length > FRAME_MAX)
        return SAPHAN_E_PROTOCOL;
    wanted = FRAME_HEADER + length;
    if (wanted < WIRE_FIRST)
        wanted = WIRE_FIRST;
    if (held > 0)
        memmove(wire->in, wire->in + wire->in_from, held);
    wire->in_from = 0;
    wire->in_to = held;
    if (wire->in_size >= wanted)
        return 0;
    in = realloc(wire->in, wanted);
    if (!in)
        return -ENOMEM;
    wire->in = in;
    wire->in_size = wanted;
    return 0;
}

int wire_fill(struct wire *wire)
{
    ssize_t n;
    int r;

    r = make_room(wire);
    if (r != 0)
        return r;
    if (wire->in_to == wire->in_size)
        return 0; /* a whole frame is there and not taken yet */
    /* No room for ancillary data: descriptors that saphand never sends would be closed by the
     * kernel. */
    do
        n = recv(wire->fd, wire->in + wire->in_to, wire->in_size - wire->in_to, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == ECONNRESET ? SAPHAN_E_CLOSED : -errno;
    if (n == 0)
        return SAPHAN_E_CLOSED;
    wire->in_to += (size_t)n;
    return 0;
}

int wire_take(struct wire *wire, Saphan__V1__ServerFrame **ret)
{
    Saphan__V1__ServerFrame *frame;
    uint32_t length;
    bool known;

    *ret = NULL;
    length = next_length(wire, &known);
    if (!known)
        return 0;
    if (length == 0)
        return SAPHAN_E_BUSY;
    if (length > FRAME_MAX)
        return SAPHAN_E_PROTOCOL;
    if (wire->in_to - wire->in_from < FRAME_HEADER + length)
        return 0;
    frame = saphan__v1__server_frame__unpack(NULL, length, wire->in + wire->in_from + FRAME_HEADER);
    if (!frame)
        return SAPHAN_E_PROTOCOL;
    if (frame->protocol != FRAME_PROTOCOL) {
        saphan__v1__server_frame__free_unpacked(frame, NULL);
        return SAPHAN_E_PROTOCOL;
    }
    wire->in_from += FRAME_HEADER + length;
    *ret = frame;
    return 0;
}
