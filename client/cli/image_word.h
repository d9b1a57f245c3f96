/* image_word.h - the command line of the words of `saphan image`, and an image for people and
 * programs. */
#pragma once

#include "saphan.h"

struct image_word {
    const char *verb, *help;
    int wanted; /* words behind the options */
    bool may_refer, may_json;

    const char *words[2];
    const char *reference; /* or NULL */
    bool json;
    size_t count; /* rows so far */
};

/* < 0: go on; else the program ends with it. */
int image_word_parse(struct image_word *word, int argc, char **argv);

/* For ask_all(), with the struct image_word: all about an image, or one row. */
int image_print(void *context, const struct saphan_event *event);
int image_print_row(void *context, const struct saphan_event *event);
