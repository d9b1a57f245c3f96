/* zygotes.h - the two programs that bear fronts and slots: started here, and again when they die.
 *
 * A birth takes the loop no time: it is ordered, and told later.
 */
#pragma once

#include "warden.h"

/* PID and PIDFD (owned by the callee) of the child, which is ours to reap; or ERROR, a positive
 * errno, and no child. */
typedef void (*zygote_born)(void *context, int error, pid_t pid, int pidfd);

/* Starts both.  -errno. */
int zygotes_open(struct warden *warden);
void zygotes_close(struct warden *warden);

/* False for the moment between the death of one and the start of the next. */
bool zygote_is_there(const struct zygote *zygote);

/* Orders a child with CHANNEL as its descriptor 3, in CGROUP (or -EBADF) and NAMESPACES (CLONE_NEW*
 * flags); neither descriptor is consumed.  BORN(CONTEXT) is called later from the loop, once,
 * unless zygote_forget() comes before.  -errno: no order went out. */
int zygote_bear(struct zygote *zygote, const struct seam_bear *bear, int channel, int cgroup,
    zygote_born born, void *context);

/* A child that CONTEXT still waits for is killed when it is born. */
void zygote_forget(struct zygote *zygote, const void *context);
