#include "blockers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const words[BLOCKER_COUNT] = {
#define BLOCKER(name, word) [BLOCKER_##name] = word,
#include "blockers.def"
#undef BLOCKER
};

static uint64_t bit_of(const char *word, size_t length)
{
    for (size_t i = 0; i < BLOCKER_COUNT; i++) {
        if (strlen(words[i]) == length && memcmp(words[i], word, length) == 0)
            return UINT64_C(1) << i;
    }
    return UINT64_C(1) << BLOCKER_OTHER;
}

int blockers_parse(const char *text, uint64_t *ret_bits)
{
    uint64_t bits = 0;

    for (;;) {
        size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.");

        if (length == 0 || (text[length] != ',' && text[length] != '\0'))
            return -EINVAL;
        bits |= bit_of(text, length);
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    *ret_bits = bits;
    return 0;
}

void blockers_format(uint64_t bits, char out[BLOCKERS_TEXT_MAX])
{
    size_t at = 0;

    out[0] = '\0';
    for (size_t i = 0; i < BLOCKER_COUNT; i++) {
        if (bits & UINT64_C(1) << i)
            at +=
                (size_t)snprintf(out + at, BLOCKERS_TEXT_MAX - at, "%s%s", at ? "," : "", words[i]);
    }
}
