/* mask.h - takes a secret out of a server's answer, wherever it is cut.  Pure.
 *
 * Nothing is held back but what begins with the beginning of the secret, so that what is told token
 * by token still arrives so.  A secret that stands in several chunks is found as their reader would
 * put it together; as many asterisks stand in its place, so that the chunks stay as they are.
 */
#pragma once

#include "http_answer.h"

#define MASK_SECRET_MIN 8 /* what is shorter is found by chance */
#define MASK_HELD_MAX (64U * 1024U)

struct mask {
    const char *secret; /* NULL: nothing is masked */
    size_t length;
    size_t masked; /* how often it was taken out */

    struct http_answer answer;
    uint32_t *shorter; /* of each beginning the longest end that is a shorter beginning */
    uint32_t *at;      /* where what was seen of the secret stands, in what is held back */
    size_t seen;       /* its bytes that were seen last */
    char *held;        /* from the first of these on; they themselves are not kept */
    size_t held_size;
};

/* SECRET stays the caller's; NULL: nothing is masked.  0, -ENOMEM. */
int mask_init(struct mask *mask, const char *secret, size_t length);
void mask_done(struct mask *mask);

/* BUFFER holds, behind the first MASK_HELD_MAX bytes, SIZE bytes that came; the first are free for
 * what was held back.  *RET where what may go on begins, *RET_SIZE how much it is: never more than
 * MASK_HELD_MAX longer than what came.  The secret stands as asterisks in it.  0, -ENOMEM; -EINVAL:
 * chunks that are none; -E2BIG: too much would have to be held back. */
int mask_run(struct mask *mask, char *buffer, size_t size, char **ret, size_t *ret_size);

/* The end of the stream: what was held back is no secret.  Copies it to OUT (MASK_HELD_MAX bytes).
 */
size_t mask_end(struct mask *mask, char *out);
