/* enclosure.h - the ear's own walls: raised before it reads the first byte. */
#pragma once

#include "fault.h"
#include <stdint.h>

/* Becomes UID (and the group of that number) without a capability, in the empty directory ROOT
 * (consumed), with low limits, under the ear's filter.  -errno with *RET_FAULT. */
int enclosure_enter(uint32_t uid, int root, struct fault *ret_fault);
