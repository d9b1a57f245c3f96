#include "pump.h"

#include "descriptor.h"
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Written in pieces a terminal takes at once after POLLOUT, so that a stopped one stalls little. */
#define PUMP_PIECE 4096U

static int socket_option(int fd, int option)
{
    socklen_t length = sizeof(int);
    int value = -1;

    return getsockopt(fd, SOL_SOCKET, option, &value, &length) < 0 ? -1 : value;
}

static bool socket_may_pass(int fd)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof(peer);

    return socket_option(fd, SO_DOMAIN) == AF_UNIX && socket_option(fd, SO_TYPE) == SOCK_STREAM &&
           getpeername(fd, (struct sockaddr *)&peer, &length) == 0;
}

int stream_route(int fd, enum stream_route *ret)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3))
        *ret = STREAM_ROUTE_NULL;
    else if (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode) ||
             (S_ISSOCK(st.st_mode) && socket_may_pass(fd)))
        *ret = STREAM_ROUTE_PASS;
    else
        *ret = STREAM_ROUTE_PUMP;
    return 0;
}

int pump_start(struct pump *pump, int fd, bool output, unsigned int stream, int *ret_leg)
{
    int ends[2], ours, legs;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    ours = output ? ends[0] : ends[1];
    legs = output ? ends[1] : ends[0];
    /* Only our end: the flag belongs to the open file, and the leg's end is another one. */
    if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0 || descriptor_let_reopen(legs, output) < 0) {
        int error = errno;

        close(ends[0]);
        close(ends[1]);
        return -error;
    }
    pump->from = output ? ours : fd;
    pump->to = output ? fd : ours;
    pump->output = output;
    pump->stream = stream;
    pump->start = pump->end = 0;
    *ret_leg = legs;
    return 0;
}

void pump_end(struct pump *pump)
{
    if (pump->output)
        close_fd(&pump->from);
    else
        close_fd(&pump->to);
    pump->from = pump->to = -EBADF;
}

struct pollfd pump_pollfd(const struct pump *pump)
{
    struct pollfd out = {.fd = pump->from, .events = POLLIN};

    if (pump->start < pump->end) {
        out.fd = pump->to;
        out.events = POLLOUT;
    }
    return out;
}

static bool passing(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

bool pump_read(struct pump *pump)
{
    ssize_t n = read(pump->from, pump->buffer, sizeof(pump->buffer));

    if (n > 0) {
        pump->start = 0;
        pump->end = (size_t)n;
        return true;
    }
    if (n == 0 || !passing(errno))
        pump_end(pump);
    return false;
}

static bool pump_write(struct pump *pump)
{
    size_t size = pump->end - pump->start;
    ssize_t n;

    n = write(pump->to, pump->buffer + pump->start, size > PUMP_PIECE ? PUMP_PIECE : size);
    if (n >= 0) {
        pump->start += (size_t)n;
        return true;
    }
    /* The reader is gone: so is the pipe, and the leg learns it as from any pipe. */
    if (!passing(errno))
        pump_end(pump);
    return false;
}

void pump_step(struct pump *pump)
{
    if (pump->start < pump->end)
        (void)pump_write(pump);
    else
        (void)pump_read(pump);
}

bool pump_finish(struct pump *pump)
{
    if (!pump->output)
        pump_end(pump);
    while (pump_runs(pump)) {
        struct pollfd wait = {.fd = pump->to, .events = POLLOUT};

        if (pump->start == pump->end && !pump_read(pump))
            break;
        if (poll(&wait, 1, 0) <= 0 || (!pump_write(pump) && pump_runs(pump)))
            return false;
    }
    if (pump_runs(pump))
        pump_end(pump);
    return true;
}
