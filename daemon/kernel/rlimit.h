/* rlimit.h - what a process may use up: setrlimit(2). */
#pragma once

#include <sys/resource.h>

/* Both limits become VALUE, or what was inherited if that is lower: raising a hard limit is not
 * ours to try.  0 or -errno. */
int rlimit_lower(__rlimit_resource_t resource, rlim_t value);
