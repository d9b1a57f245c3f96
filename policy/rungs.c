#include "rungs.h"

#include "own.h"
#include <errno.h>
#include <string.h>

struct word {
    const char *slug;
    const char *meaning;
};

static const struct word words[RUNG_COUNT] = {
#define RUNG(name, slug, meaning) [RUNG_##name] = {slug, meaning},
#include "rungs.def"
#undef RUNG
};

_Static_assert(RUNG_COUNT <= 64, "a set of rungs is one 64-bit word");

static const char *const state_names[] = {
    [RUNG_NEVER_ASKED] = "never-asked",
    [RUNG_HOLDS] = "holds",
    [RUNG_REFUSED] = "refused",
    [RUNG_ABSENT] = "absent",
    [RUNG_BROKEN] = "broken",
};

const char *rung_slug(enum rung_id rung)
{
    return (size_t)rung < array_size(words) ? words[rung].slug : "?";
}

const char *rung_meaning(enum rung_id rung)
{
    return (size_t)rung < array_size(words) ? words[rung].meaning : "?";
}

const char *rung_state_name(enum rung_state state)
{
    return (size_t)state < array_size(state_names) ? state_names[state] : "?";
}

int rung_state_parse(const char *name, enum rung_state *ret)
{
    for (size_t i = 0; i < array_size(state_names); i++) {
        if (strcmp(state_names[i], name) == 0) {
            *ret = (enum rung_state)i;
            return 0;
        }
    }
    return -EINVAL;
}

int rung_parse(const char *slug, enum rung_id *ret)
{
    for (size_t i = 0; i < array_size(words); i++) {
        if (strcmp(words[i].slug, slug) == 0) {
            *ret = (enum rung_id)i;
            return 0;
        }
    }
    return -EINVAL;
}
