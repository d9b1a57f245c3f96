/* watch.h - pid 1 while its leg runs. */
#pragma once

#include "denials.h"
#include "kept.h"
#include "meter.h"
#include <sys/types.h>

/* What every leg uses comes first: a page that is not touched is not copied at a slot's birth. */
struct watch {
    int channel, children, listener; /* children: a signalfd of SIGCHLD */
    int pipes[2];                    /* read ends of stdout and stderr where they are kept */
    struct kept_writer kept[2];
    uint64_t lost[2];       /* bytes that could not be kept: all since the first that could not */
    struct meter meters[2]; /* of stdout and stderr where they are counted */
    uint64_t budget;        /* what is left of the output limit */
    pid_t program;
    struct denials denials;
    char chunks[2][METER_CHUNK]; /* of the meters */
    char buffer[64 * 1024];      /* for what is pumped */
};

/* Reaps all, pumps, answers, until the program has ended; then says EXITED.  0 when it was said;
 * SEAM_E_CLOSED: the daemon is gone; -errno. */
int watch_run(struct watch *watch);
