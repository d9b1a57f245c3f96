/* denials.h - the calls that would build a sandbox, and dangerous ones: answered at once, told with
 * repeats folded. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DENIALS_MAX 24
#define DENIAL_WHO_MAX 1280

/* All calls of one number with the same flags. */
struct denial {
    int number;
    bool nests; /* it would build a sandbox */
    uint64_t flags;
    uint64_t count, told; /* how often; the count that was told last */
    int64_t first_ms, last_ms;
    /* of the first: */
    char who[DENIAL_WHO_MAX]; /* flags, comm, exe, pid, chain, as people read it */
    char comm[80], exe[320];
    int32_t pid;
};

struct denials {
    uint64_t leg;
    size_t count;
    struct denial others[2]; /* all that find no place: dangerous ones, and those that nest */
    struct denial all[DENIALS_MAX];
};

/* Takes one call off the listener, lets it fail with EPERM and counts it.  0 or -errno. */
int denials_answer(struct denials *denials, int listener);

/* Tells what is new: a denial at its first time and whenever its count has grown tenfold; in the
 * END all that was not told.  True when something could not be told now: call again. */
bool denials_tell(struct denials *denials, int channel, bool end);
