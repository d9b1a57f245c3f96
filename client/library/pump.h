/* pump.h - a standard stream that is not passed itself: a pipe, and the bytes carried through it,
 * to or from a descriptor of the caller's or as events. */
#pragma once

#include "saphan.h"

#define PUMPS_MAX 3
#define PUMP_BUFFER 32768

struct pump {
    int from, to; /* -EBADF: the pump has ended */
    bool output;  /* FROM is our end of the pipe, else TO is; the other one is the caller's */
    unsigned int stream; /* 1, 2: told as events, and TO is none; 0: carried */
    size_t start, end;
    char buffer[PUMP_BUFFER];
};

/* Which way a descriptor of the caller's goes to the leg. */
enum stream_route {
    STREAM_ROUTE_NULL, /* it is /dev/null */
    STREAM_ROUTE_PASS, /* itself */
    STREAM_ROUTE_PUMP, /* a terminal, or something a leg must not hold */
};

/* -errno of fstat(2). */
int stream_route(int fd, enum stream_route *ret);

/* Starts a pump between a new pipe and FD; with STREAM above 0 FD is none.  *RET_LEG is the leg's
 * end, the caller's to close. */
int pump_start(struct pump *pump, int fd, bool output, unsigned int stream, int *ret_leg);

void pump_end(struct pump *pump);

static inline bool pump_runs(const struct pump *pump)
{
    return pump->from >= 0;
}

/* What to wait for. */
struct pollfd pump_pollfd(const struct pump *pump);

/* Reads what is there into the empty buffer.  False: there is nothing; the pump may have ended. */
bool pump_read(struct pump *pump);

/* Moves one piece on the side that pump_pollfd() named and that is ready; ends the pump at the end
 * of either side. */
void pump_step(struct pump *pump);

/* The leg is gone: carries what still lies in its pipe and ends the pump (not one that is told).
 * False: the writing side must be waited for first, see pump_pollfd(). */
bool pump_finish(struct pump *pump);
