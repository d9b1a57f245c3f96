/* reasons.h - why a verdict is what it is: stable slugs with a meaning and a remedy. */
#pragma once

#include "terms.h"

enum reason {
    REASON_NONE = 0,
#define REASON(name, slug, colour, meaning, remedy) REASON_##name,
#include "reasons.def"
#undef REASON
    REASON_COUNT
};

struct reason_entry {
    const char *slug;
    enum colour colour;
    const char *meaning;
    const char *remedy;
};

/* The table's line; the line of REASON_NONE ("", UNSET, "", "") for a number outside it. */
const struct reason_entry *reason_entry(uint32_t reason);

/* -EINVAL when there is no such slug. */
int reason_parse(const char *slug, enum reason *ret);
