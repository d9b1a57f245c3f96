/* types.h - the form of each message type: what seam_receive() checks before anyone looks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* COUNT texts or lists, the first at OFFSET in the fixed struct, STRIDE bytes apart. */
struct seam_type_field {
    size_t offset, count, stride;
    bool is_list;
};

struct seam_type_form {
    uint32_t fixed_size;
    uint16_t max_descriptors;
    const struct seam_type_field *fields; /* ends with count == 0; NULL = none */
};

/* NULL for a type that does not exist. */
const struct seam_type_form *seam_type_form(uint16_t type);
