/* properties.h - what the machine row and the cells measured on it let say: three sentences that
 * are three rows, because each can be true while another is not. */
#pragma once

#include "rungs.h"

enum property {
    PROPERTY_HOST_CAN_JAIL,
    PROPERTY_BACKEND_JAILED,
    PROPERTY_EGRESS_CUT,
    PROPERTY_COUNT,
};

/* The newest cell of each vendor, boundary and state of its sandbox, counted by what it says. */
struct cell_counts {
    uint32_t nests, collides, hangs, indeterminate, stale;
};

#define PROPERTY_DETAIL_MAX 240

const char *property_slug(enum property property);
const char *property_meaning(enum property property);

/* Always decides; *RET_DETAIL names what decided. */
enum rung_state property_judge(enum property property, const struct machine_row *machine,
    const struct cell_counts *cells, char detail[PROPERTY_DETAIL_MAX]);
