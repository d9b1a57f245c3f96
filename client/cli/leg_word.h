/* leg_word.h - the command line of the words of `saphan leg`: one number, perhaps --follow. */
#pragma once

#include "saphan.h"
#include <stdbool.h>

struct leg_word {
    const char *verb; /* "saphan leg show" */
    const char *help;
    bool may_follow;
};

/* Returns the leg; 0: end with *RET_STATUS.  *RET_FOLLOW may be NULL where WORD has no --follow. */
unsigned long long leg_word_parse(
    const struct leg_word *word, int argc, char **argv, bool *ret_follow, int *ret_status);

/* The whole of a word that asks one thing of a leg: the command line, REQUEST, and each event to
 * TAKE (NULL: to nobody).  Returns the exit status. */
int leg_word_ask(const struct leg_word *word, int argc, char **argv,
    int (*request)(
        struct saphan *saphan, uint64_t leg, uint64_t *ret_request, struct saphan_error *error),
    int (*take)(void *context, const struct saphan_event *event));
