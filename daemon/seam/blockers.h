/* blockers.h - what refused something, as bits: the ear reads the kernel's words, the warden writes
 * them out again. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum blocker {
#define BLOCKER(name, word) BLOCKER_##name,
#include "blockers.def"
#undef BLOCKER
    BLOCKER_COUNT
};

#define BLOCKERS_TEXT_MAX 512 /* all words, with commas */

/* "fs.make_reg,fs.refer": bits.  A word that this version does not know is BLOCKER_OTHER; an empty
 * word, or a character that is not of a word: -EINVAL. */
int blockers_parse(const char *text, uint64_t *ret_bits);

/* The words of BITS with commas; unknown bits are left out. */
void blockers_format(uint64_t bits, char out[BLOCKERS_TEXT_MAX]);
