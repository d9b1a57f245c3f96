/* intake.h - one frame at a time out of the client's connection, with the descriptors beside it. */
#pragma once

#include "frame.h"
#include <stdbool.h>

/* What intake_read() says besides 0 (a whole frame stands in it) and -errno. */
enum {
    INTAKE_E_MORE = 1,  /* the frame is not complete yet */
    INTAKE_E_CLOSED,    /* the client closed its side */
    INTAKE_E_EMPTY,     /* a length of 0 */
    INTAKE_E_TOO_BIG,   /* a length above FRAME_MAX */
    INTAKE_E_MISPLACED, /* descriptors, but not beside the first byte */
    INTAKE_E_TOO_MANY,  /* more descriptors than a frame may have */
    INTAKE_E_CONTROL,   /* a control message that is not SCM_RIGHTS */
};

struct intake {
    uint8_t *bytes; /* FRAME_HEADER + FRAME_MAX; only the pages that are used cost memory */
    size_t have, want;
    int descriptors[FRAME_DESCRIPTORS_MAX]; /* owned */
    size_t n_descriptors;
};

/* -ENOMEM. */
int intake_init(struct intake *intake);
void intake_done(struct intake *intake);

/* Forgets the frame, closes its descriptors and is ready for the next one. */
void intake_reset(struct intake *intake);

/* Reads what waits of the current frame, never a byte beyond it, and never blocks.  On every result
 * but 0 and INTAKE_E_MORE the framing is lost: the connection cannot be used any more. */
int intake_read(struct intake *intake, int client);

static inline const uint8_t *intake_message(const struct intake *intake)
{
    return intake->bytes + FRAME_HEADER;
}

static inline size_t intake_size(const struct intake *intake)
{
    return intake->want - FRAME_HEADER;
}
