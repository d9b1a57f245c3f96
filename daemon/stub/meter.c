#include "meter.h"

#include "own.h"
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

void meter_init(struct meter *meter, char chunk[METER_CHUNK])
{
    meter->chunk = chunk;
    meter->pipe = meter->onward = -EBADF;
    meter->have = meter->at = 0;
}

void meter_wants(const struct meter *meter, int *ret_fd, short *ret_events)
{
    bool full = meter->at < meter->have;

    *ret_fd = full ? meter->onward : meter->pipe;
    *ret_events = full ? POLLOUT : POLLIN;
}

bool meter_is_dry(const struct meter *meter)
{
    return meter->pipe < 0 && meter->at == meter->have;
}

static void close_meter(struct meter *meter)
{
    close_fd(&meter->pipe);
    close_fd(&meter->onward);
    meter->have = meter->at = 0;
}

/* The descriptor's own flags are the client's and stay as they are: a socket is asked not to block
 * call by call, a pipe has room for a chunk when poll says so, a file never blocks. */
static ssize_t hand_on(struct meter *meter)
{
    struct iovec part = {meter->chunk + meter->at, meter->have - meter->at};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t n = sendmsg(meter->onward, &message, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n < 0 && errno == ENOTSOCK)
        n = write(meter->onward, part.iov_base, part.iov_len);
    return n < 0 ? -errno : n;
}

static void drain_chunk(struct meter *meter)
{
    struct pollfd onward = {.fd = meter->onward, .events = POLLOUT};

    while (meter->at < meter->have && poll(&onward, 1, 0) > 0) {
        ssize_t n = hand_on(meter);

        if (n == -EAGAIN || n == -EINTR)
            return;
        if (n < 0) {
            close_meter(meter);
            return;
        }
        meter->at += (size_t)n;
    }
}

bool meter_move(struct meter *meter, uint64_t *budget)
{
    for (int turn = 0; turn < 16; turn++) { /* then the others have their turn */
        ssize_t n;

        drain_chunk(meter);
        if (meter->at < meter->have || meter->pipe < 0)
            return true;
        n = read(meter->pipe, meter->chunk, METER_CHUNK);
        if (n < 0)
            return true; /* EAGAIN: nothing waits */
        meter->at = 0;
        meter->have = (size_t)n;
        if (n == 0)
            close_fd(&meter->pipe);
        if ((uint64_t)n > *budget)
            return false;
        *budget -= (uint64_t)n;
    }
    return true;
}
