#include "failure.h"

#include "fault.h"
#include "text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int failure(struct saphan_error *error, int result, const char *step, const char *format, ...)
{
    char raw[sizeof(error->message)];
    va_list args;
    int length, r;

    if (!error)
        return result;
    (void)snprintf(error->step, sizeof(error->step), "%s", step);
    error->error = result < 0 ? -result : 0;
    length = snprintf(raw, sizeof(raw), "%s: ", step);
    va_start(args, format);
    r = vsnprintf(raw + length, sizeof(raw) - (size_t)length, format, args);
    va_end(args);
    length += r < 0 ? 0 : r;
    if (result < 0 && (size_t)length < sizeof(raw))
        (void)snprintf(raw + length, sizeof(raw) - (size_t)length, ": %s (%s)",
            fault_errno_name(-result), strerror(-result));
    text_escape(raw, error->message, sizeof(error->message));
    return result;
}
