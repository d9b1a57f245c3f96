/* meter.h - a stream that is counted on its way to the client's descriptor, because the leg has an
 * output limit.  Without one nothing stands between the program and the descriptor. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A pipe that is writable takes this much without blocking: PIPE_BUF, pipe(7). */
#define METER_CHUNK 4096

struct meter {
    int pipe;   /* read end, non-blocking; owned */
    int onward; /* the client's descriptor; owned */
    size_t have, at;
    char *chunk; /* METER_CHUNK bytes, in a leg that is counted only */
};

/* CHUNK is the caller's. */
void meter_init(struct meter *meter, char chunk[METER_CHUNK]);

/* What poll(2) should watch for this meter: *RET_FD (-1: nothing) and the events. */
void meter_wants(const struct meter *meter, int *ret_fd, short *ret_events);

/* Moves what can be moved without blocking.  Takes what it read off *BUDGET (shared by the
 * streams). False when there was more than the budget.  A reader that is gone closes the pipe, so
 * that the program gets what it would have got. */
bool meter_move(struct meter *meter, uint64_t *budget);

/* Is there nothing more to be handed on? */
bool meter_is_dry(const struct meter *meter);
