/* answering.h - whether what a path leads to answers at all. */
#pragma once

#include <stddef.h>

#define ANSWERING_MS 5000

/* The first of PATHS whose file system does not say within ANSWERING_MS whether it is there (a
 * server that is gone, a mount that hangs); NULL: all say so, be it that there is nothing.  Whoever
 * asked such a one itself could be ended by SIGKILL alone. */
const char *first_unanswered(const char *const *paths, size_t count);
