/* ask.h - what the verbs that only ask have in common: connect, and hear all there is. */
#pragma once

#include "saphan.h"

/* Connects.  NULL: failed, already said. */
struct saphan *ask_connect(void);

/* Hands each event to TAKE until the request ends.  Returns the exit status: 0 at END, what TAKE
 * returned if that is not 0, EXIT_OURS after saying why for a refusal or a failure. */
int ask_all(struct saphan *saphan, int (*take)(void *context, const struct saphan_event *event),
    void *context);
