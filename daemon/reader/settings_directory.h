/* settings_directory.h - one key in all the files of a drop-in directory. */
#pragma once

#include "nesting.h"

#define SETTINGS_DIRECTORY_SUFFIX "/*.json"

/* PATTERN is absolute and ends with the suffix.  The value in those of its files that hold KEY;
 * FOUND_BROKEN when two of them differ: which of them wins is not guessed. */
void settings_directory_key(const char *pattern, const char *key, struct nesting_answer *ret);
