/* answer.h - a frame of saphand made into a struct saphan_event. */
#pragma once

#include "client_arena.h"
#include "saphan.h"
#include "saphan.pb-c.h"

/* What a request was, so that one knows which answer ends it. */
enum asked {
    ASKED_NOTHING = 0,
    ASKED_RUN,
    ASKED_RUN_DETACHED,
    ASKED_OTHER,
};

/* Fills RET, whose texts live in ARENA and FRAME.  *RET_KNOWN false: a frame of a newer saphand, to
 * be passed over.  0; SAPHAN_E_PROTOCOL; -ENOMEM. */
int answer_read(const Saphan__V1__ServerFrame *frame, enum asked asked, struct arena *arena,
    bool *ret_known, struct saphan_event *ret);
