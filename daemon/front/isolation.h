/* isolation.h - what a front gives up before it reads the first byte. */
#pragma once

#include "fault.h"
#include "seccomp.h"
#include <stdint.h>

/* What can be given up before it is known whom the front will be: locks this process, which is
 * root, into the empty directory ROOT (taken), with no capability but those that become somebody
 * else, and limits.  -errno with *RET_FAULT (enum step); the process must end then. */
int isolation_prepare(int root, struct fault *ret_fault);

/* The rest: from now on it is UID, without privilege, under FILTER, and can make no process.
 * -errno as above. */
int isolation_complete(uint32_t uid, const struct seccomp_filter *filter, struct fault *ret_fault);
