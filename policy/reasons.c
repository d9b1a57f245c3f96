#include "reasons.h"

#include "own.h"
#include <errno.h>
#include <string.h>

static const struct reason_entry table[REASON_COUNT] = {
    [REASON_NONE] = {"", COLOUR_UNSET, "", ""},
#define REASON(name, slug, colour, meaning, remedy)                                                \
    [REASON_##name] = {slug, COLOUR_##colour, meaning, remedy},
#include "reasons.def"
#undef REASON
};

const struct reason_entry *reason_entry(uint32_t reason)
{
    return &table[reason < REASON_COUNT ? reason : REASON_NONE];
}

int reason_parse(const char *slug, enum reason *ret)
{
    for (size_t i = 1; i < array_size(table); i++) {
        if (strcmp(table[i].slug, slug) == 0) {
            *ret = (enum reason)i;
            return 0;
        }
    }
    return -EINVAL;
}
