/* event.h - what a leg's life tells: one struct for live events, the ledger and `leg show`. */
#pragma once

#include "channel.h"

/* Append only: the numbers lie in the ledger. */
enum event_kind {
    EVENT_ACCEPTED = 1, /* the row is durable */
    EVENT_STARTED = 2,  /* exec succeeded; a = pid of the first process inside the leg */
    EVENT_DENIED = 3,   /* subject = path or call; detail = what was refused to whom; a = count */
    EVENT_ARTEFACT =
        4, /* subject = path; reason = what is wrong with it or 0; a = size; detail = sha256 */
    EVENT_EXITED =
        5, /* a = wait status; b = user + system time in microseconds; c = maximum RSS, bytes */
    EVENT_NOTE = 6, /* detail = something the requester should know, that turns nothing RED */
    /* The door's: subject = HOST:PORT.  What it refuses is an EVENT_DENIED with its reason. */
    EVENT_CONNECTED = 7,    /* detail = address, rule, way in; a = number of the connection */
    EVENT_DISCONNECTED = 8, /* a = number of the connection; b, c = bytes out of the leg, into it */
    EVENT_DOOR = 9,         /* the list was changed; detail = how and by whom */
};

struct seam_event {
    uint64_t leg;
    int64_t at_ms; /* wall clock */
    uint32_t kind;
    uint32_t reason; /* enum reason, or 0 */
    int64_t a, b, c; /* meaning by kind */
    struct seam_text subject;
    struct seam_text detail;
};
