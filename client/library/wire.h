/* wire.h - frames on the connection, both ways. */
#pragma once

#include "frame.h"
#include "saphan.pb-c.h"

struct wire {
    int fd;         /* owned */
    uint8_t *in;    /* what came and is not yet a message */
    size_t in_size; /* allocated */
    size_t in_from, in_to;
};

void wire_done(struct wire *wire);

/* Sends one frame and its N_FDS descriptors, which stay the caller's. -errno; SAPHAN_E_TOO_BIG. */
int wire_send(
    struct wire *wire, const Saphan__V1__ClientFrame *frame, const int *fds, size_t n_fds);

/* Reads what is there, without waiting.  0; -EAGAIN; SAPHAN_E_CLOSED; -errno. */
int wire_fill(struct wire *wire);

/* Hands out the next whole frame; NULL when there is none yet.  The caller frees it.
 * 0; SAPHAN_E_BUSY; SAPHAN_E_PROTOCOL; -ENOMEM. */
int wire_take(struct wire *wire, Saphan__V1__ServerFrame **ret);
