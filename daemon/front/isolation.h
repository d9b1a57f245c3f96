/* isolation.h - what the fronts' zygote gives up before there is a front. */
#pragma once

#include "fault.h"

/* What can be given up before it is known whom a front will be: locks this process, which is root,
 * into the empty directory ROOT (taken), with no capability but those that become somebody else,
 * and limits.  The rest is the newborn front's: enclosure_become().  -errno with *RET_FAULT (enum
 * step); the process must end then. */
int isolation_prepare(int root, struct fault *ret_fault);
