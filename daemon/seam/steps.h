/* steps.h - the steps of a leg's life that can fail, in their order.  Named in every failure. */
#pragma once

#include <stdint.h>

enum step {
    STEP_NONE = 0,
#define STEP(name, slug) STEP_##name,
#include "steps.def"
#undef STEP
    STEP_COUNT
};

const char *step_slug(uint32_t step); /* "mounts"; "?" for an unknown number */
