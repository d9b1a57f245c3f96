/* doorway.h - the listening sockets of a leg's own network namespace that its door accepts from. */
#pragma once

#include "fault.h"
#include "plan.h"

/* One for each of the plan's ports, in order, on 127.0.0.1.  The caller closes them. -errno. */
int doorway_open(const struct plan *plan, int ret_sockets[], struct fault *ret_fault);
