/* cell_texts.h - the texts of a cell by number. */
#pragma once

#include <stddef.h>

enum cell_text {
#define CELL_TEXT(name, max) CELL_TEXT_##name,
#include "cell_texts.def"
#undef CELL_TEXT
    CELL_TEXT_COUNT
};

/* Of an arm: what was run, what came of it, what it wrote (its beginning), what was told of it. */
enum arm_text {
    ARM_TEXT_COMMAND,
    ARM_TEXT_DETAIL,
    ARM_TEXT_OUTPUT,
    ARM_TEXT_EVENTS,
    ARM_TEXT_COUNT
};

#define ARM_COMMAND_MAX 16384
#define ARM_DETAIL_MAX 1024
#define ARM_OUTPUT_MAX 4096
#define ARM_EVENTS_MAX 4096
