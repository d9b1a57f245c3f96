#include "steps.h"

const char *step_slug(uint32_t step)
{
    static const char *const slugs[] = {
        "none",
#define STEP(name, slug) slug,
#include "steps.def"
#undef STEP
    };

    return step < sizeof(slugs) / sizeof(slugs[0]) ? slugs[step] : "?";
}
