/* decode.h - from the bytes of a ClientFrame to a seam message, every field's form checked. */
#pragma once

#include "messages.h"

/* Besides 0 and -errno. */
enum {
    DECODE_E_REFUSED = 1, /* *ret_refusal says why; the connection stays usable */
};

/* What the warden is asked.  descriptors go with it as they came. */
struct ask {
    uint64_t request; /* the client's own number; 0 where the frame could not be read */
    bool detach;
    struct seam_writer writer; /* header.request is the session's to set */
    union {
        struct seam_run run;
        struct seam_ask_legs legs;
        struct seam_ask_leg leg;
        struct seam_ask_why why;
        struct seam_ask_door door;
        struct seam_ask_status status;
        struct seam_ask_machine machine;
        struct seam_ask_image image;
        struct seam_cell cell;
        struct seam_arm arm;
        struct seam_ask_matrix matrix;
    } fixed;
};

/* Decodes one message of SIZE bytes, beside which N_DESCRIPTORS came.  RET->request is filled on
 * DECODE_E_REFUSED too; the rest only on 0, and then ask_done() is due. */
int decode(const uint8_t *bytes, size_t size, size_t n_descriptors, struct ask *ret,
    struct refusal *ret_refusal);
void ask_done(struct ask *ask);
