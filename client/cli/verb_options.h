/* verb_options.h - a verb's command line, read exactly: no abbreviations, no guesses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct option {
    const char *name; /* with its dashes */
    bool value;       /* "--name VALUE" or "--name=VALUE" */
    int id;           /* > 0 */
};

enum {
    OPTIONS_END = 0,    /* all read, or "--" stands before what at points to */
    OPTIONS_ERROR = -1, /* already said */
    OPTIONS_WORD = -2,  /* *ret_value is no option */
};

struct options {
    const char *verb; /* for messages: "saphan run" */
    int argc, at;
    char **argv;
    bool ended; /* by "--" */
};

/* Returns an id of TABLE or one of the above.  *RET_VALUE points into argv. */
int options_next(
    struct options *options, const struct option *table, size_t n_table, char **ret_value);

/* Reads a leg's number, exactly.  0 on error, already said: no leg has number 0. */
unsigned long long options_leg(const struct options *options, const char *text);
