/* custody.h - who could have changed our programs, configuration, policy or state. */
#pragma once

#include "options.h"

/* Walks each of them up to the root: owned by root (or options.custodian), not writable by group or
 * others (a sticky directory of root's, such as /tmp, is fine: no one else can replace what is in
 * it).  Each fault is logged with the remedy; returns how many there are. */
int custody_check(const struct options *options);
