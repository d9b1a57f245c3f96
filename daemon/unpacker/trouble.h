/* trouble.h - why an image is not taken: a reason of the one table, and what it is about. */
#pragma once

#include "reasons.h"
#include <stdint.h>

#define TROUBLE_DETAIL_MAX 700

/* Positive, for the direct caller: *ret_trouble is filled. */
enum { UNPACK_E_REFUSED = 1 };

struct trouble {
    enum reason reason;
    int error; /* positive errno, or 0 */
    char detail[TROUBLE_DETAIL_MAX];
};

/* Fills TROUBLE, with the detail escaped, and is UNPACK_E_REFUSED. */
int trouble_set(struct trouble *trouble, enum reason reason, int error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
