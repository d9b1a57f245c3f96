/* ear.h - saphan-ear as the warden has it: what it hears becomes events of the right leg.
 *
 * It runs where the rung landlock-audit holds.  A domain is a leg's when the process that made it
 * is the leg's program (as the kernel counts pids), its id is of the leg's own range, and the
 * kernel's record of it is no older than the leg's slot: each alone is enough while the leg lives,
 * all three also when a record comes late and a number was used again.  What cannot be joined so is
 * dropped and counted, never given to the nearest.
 */
#pragma once

#include "warden.h"

/* Starts it, if the rung holds. */
int ear_open(struct warden *warden);
void ear_close(struct warden *warden);

/* LEG's program stands before its exec: learns its pid, so that its domain is known later. */
void ear_learn(struct leg *leg);

/* LEG's last process is gone: leg_heard_out(leg) follows from the loop when all that the kernel
 * told of it was heard: when no record waits in the kernel, the ear is asked, which answers within
 * a millisecond.  Where it has not for EAR_PATIENCE_S the leg goes on without, and is told so.
 * False: there is nothing to wait for. */
#define EAR_PATIENCE_S 2
bool ear_hear_out(struct leg *leg);

/* What was heard and what was not, since this daemon started.  False: there is no ear. */
bool ear_counts(const struct warden *warden, struct ear_count *ret);
