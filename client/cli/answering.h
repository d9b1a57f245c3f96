/* answering.h - whether what a path leads to answers at all.
 *
 * A file system can keep whoever asks it for ever (a server that is gone, a mount that hangs), and
 * then not even SIGKILL ends the asker.  So a child asks, which holds nothing of ours, and is left
 * behind if need be. */
#pragma once

#include <stddef.h>

#define ANSWERING_MS 5000

/* The first of PATHS whose file system does not say within ANSWERING_MS whether it is there; NULL:
 * all say so, be it that there is nothing. */
const char *first_unanswered(const char *const *paths, size_t count);

/* Waits until all of PATHS say so.  What lasts longer than two seconds is said on standard error,
 * by its name; a signal that ends a program ends this one.  Nothing is asked of those that the
 * kernel knows. */
void await_answers(const char *const *paths, size_t count);
