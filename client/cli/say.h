/* say.h - what the program says for itself. */
#pragma once

#include <stddef.h>

#define EXIT_OURS 125 /* refused, or our own failure: never a 1 */

/* "saphan: ..." to standard error, in one write.  Returns EXIT_OURS, so that `return say(...)`
 * reads well. */
int say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* TEXT to standard output as it is.  0, or EXIT_OURS after saying why. */
int print_text(const char *text, size_t size);

/* Escaped copy in a ring of eight static buffers: for one line of output. */
const char *escaped(const char *text);

/* "2026-11-30T00:25:37Z"; "-" for 0.  The result is static. */
const char *time_text(long long at_ms);
