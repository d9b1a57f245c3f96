#include "trouble.h"

#include "fault.h"
#include "text.h"
#include <stdarg.h>
#include <stdio.h>

int trouble_set(struct trouble *trouble, enum reason reason, int error, const char *format, ...)
{
    char detail[TROUBLE_DETAIL_MAX * 2];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    if (error > 0 && n >= 0 && (size_t)n < sizeof(detail))
        (void)snprintf(detail + n, sizeof(detail) - (size_t)n, ": %s", fault_errno_name(error));
    trouble->reason = reason;
    trouble->error = error;
    text_escape(detail, trouble->detail, sizeof(trouble->detail));
    return UNPACK_E_REFUSED;
}
