/* failure.h - how libsaphan says what went wrong. */
#pragma once

#include "saphan.h"

/* Fills ERROR (which may be NULL) and returns RESULT: -errno or SAPHAN_E_*.  The message becomes
 * "STEP: text" and, for an errno, ": ENOENT (No such file or directory)"; it is escaped. */
int failure(struct saphan_error *error, int result, const char *step, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
