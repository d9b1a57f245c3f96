/* isolation.h - what a front gives up before it reads the first byte. */
#pragma once

#include "fault.h"
#include "seccomp.h"
#include <stdint.h>

/* Locks this process, which is root, into the empty directory ROOT (taken) as UID, without
 * privilege, under FILTER.  -errno with *RET_FAULT (enum step); the process must end then. */
int isolate_take(
    uint32_t uid, int root, const struct seccomp_filter *filter, struct fault *ret_fault);
