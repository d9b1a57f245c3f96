/* enclosure_door.h - takes from the door all that it does not need: a root, an identity, calls. */
#pragma once

#include "fault.h"

/* ROOT is an empty directory, closed here.  For good; nothing is read from the channel before it.
 * -errno with the step told. */
int door_enclose(uint32_t uid, int root, struct fault *ret_fault);
