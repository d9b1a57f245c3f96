/* mask.h - takes a secret out of a stream of bytes, wherever it is cut.  Pure.
 *
 * Nothing is held back but bytes that are the beginning of the secret, so that what is told token
 * by token still arrives so.
 */
#pragma once

#include <stddef.h>

#define MASK_SECRET_MIN 8 /* what is shorter is found by chance */

struct mask {
    const char *secret; /* NULL: nothing is masked */
    size_t length;
    size_t held;   /* how many of its first bytes were seen at the end of what came */
    size_t masked; /* how often it was taken out */
};

/* BUFFER holds, behind the first LENGTH bytes, SIZE bytes that came; the first LENGTH are free for
 * what was held back.  Returns where what may go on begins, *RET_SIZE how much it is: never more
 * than the secret's length longer than what came.  The secret stands as asterisks in it. */
char *mask_run(struct mask *mask, char *buffer, size_t size, size_t *ret_size);

/* The end of the stream: what was held back is no secret.  Copies it to OUT (LENGTH bytes). */
size_t mask_end(struct mask *mask, char *out);
