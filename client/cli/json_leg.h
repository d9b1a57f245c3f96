/* json_leg.h - a leg's row as JSON. */
#pragma once

#include "json.h"

/* NULL: out of memory. */
json_t *json_leg(const struct saphan_event *event);
