/* flag_words.h - the flags of a call that builds a sandbox, in words. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CALL_OPEN_TREE_ATTR 467 /* newer than the headers */

/* "CLONE_NEWUSER|CLONE_NEWNS", for what FLAGS mean to the call NUMBER; bits that have no name here
 * as 0xNN; "" for no flags at all, or a call without any. */
void flag_words(int number, uint64_t flags, char *out, size_t size);
