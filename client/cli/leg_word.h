/* leg_word.h - the command line of the words of `saphan leg`: one number, perhaps --follow. */
#pragma once

#include <stdbool.h>

struct leg_word {
    const char *verb; /* "saphan leg show" */
    const char *help;
    bool may_follow;
};

/* Returns the leg; 0: end with *RET_STATUS.  *RET_FOLLOW may be NULL where WORD has no --follow. */
unsigned long long leg_word_parse(
    const struct leg_word *word, int argc, char **argv, bool *ret_follow, int *ret_status);
