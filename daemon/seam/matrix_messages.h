/* matrix_messages.h - those of messages.h that are about cells of the matrix. */
#pragma once

#include "cell_texts.h"
#include "channel.h"

enum cell_step {
    CELL_STEP_NONE = 0,
    CELL_STEP_BEGIN = 1,  /* -> SEAM_END, value = its number */
    CELL_STEP_END = 2,    /* -> SEAM_CELL, SEAM_ARM..., SEAM_END */
    CELL_STEP_IMPORT = 3, /* as BEGIN; it is another host's, with a verdict of its own */
};

struct seam_cell {
    uint64_t cell;
    uint32_t step;    /* enum cell_step; 0 in an answer */
    uint32_t verdict; /* enum cell_verdict */
    uint32_t silent, arm;
    uint32_t newest; /* of its vendor, version, boundary, sandbox and host */
    uint32_t reserved;
    int64_t begun_ms, ended_ms;
    struct seam_text texts[CELL_TEXT_COUNT];
};

/* The row is written when an arm begins (BEGIN) and amended when it has ended (END). */
struct seam_arm {
    uint64_t cell, leg; /* leg: the arm ran as this one; 0: it did not */
    uint32_t step;      /* enum cell_step */
    uint32_t arm;       /* enum arm */
    uint32_t outcome;   /* enum arm_outcome: of an arm that was no leg's */
    int32_t status;     /* as waitpid(2); -1: not known */
    int64_t begun_ms, ended_ms;
    struct seam_text texts[ARM_TEXT_COUNT];
    struct seam_list argv; /* of the control: what the client would run */
    uint32_t reserved;
};

enum matrix_what {
    MATRIX_NEWEST = 1,  /* of each vendor, version, boundary, sandbox and host; and the blanks */
    MATRIX_HISTORY = 2, /* all, the oldest first */
    MATRIX_ONE = 3,     /* the cell AFTER, with its arms */
};

struct seam_ask_matrix {
    uint32_t what;           /* enum matrix_what */
    uint32_t arms;           /* 1: with them */
    uint64_t after;          /* go on behind this one: SEAM_END's value of the page before */
    struct seam_text vendor; /* absent: all */
};
