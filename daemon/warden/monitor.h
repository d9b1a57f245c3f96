/* monitor.h - the table of messages that a front may send: type, when, who takes it. */
#pragma once

#include "fronts.h"

/* Takes MESSAGE (consumed) from FRONT.  A type that is not in the table, or comes before the front
 * serves anyone, ends the front: it is ours, so it is broken or owned. */
void monitor_take(struct front *front, struct seam_message *message);
