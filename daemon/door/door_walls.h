/* door_walls.h - what the door gives up before it is handed its first message. */
#pragma once

#include "fault.h"
#include <stdint.h>

/* Becomes UID in the empty directory ROOT (consumed), behind the door's filter and limits, for
 * good.  0, or -errno with the fault filled: the process must end then. */
int door_enclose(uint32_t uid, int root, struct fault *ret_fault);
