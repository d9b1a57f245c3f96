/* ask.h - what the verbs that only ask have in common: connect, and hear all there is. */
#pragma once

#include "saphan.h"

/* Connects.  NULL: failed, already said. */
struct saphan *ask_connect(void);

/* Hands each event to TAKE until the request ends.  Returns the exit status: 0 at END, what TAKE
 * returned if that is not 0, EXIT_OURS after saying why for a refusal or a failure. */
int ask_all(struct saphan *saphan, int (*take)(void *context, const struct saphan_event *event),
    void *context);

/* The rest of a verb that asks once, and is over then: ASKED is what the library's call returned,
 * and filled ERROR if that is not 0.  Closes SAPHAN, flushes standard output; the exit status. */
int ask_to_the_end(struct saphan *saphan, int asked, const struct saphan_error *error,
    int (*take)(void *context, const struct saphan_event *event), void *context);
