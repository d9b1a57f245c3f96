#include "fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int fault_set(struct fault *fault, uint32_t step, int error, const char *format, ...)
{
    va_list args;

    if (fault) {
        fault->step = step;
        fault->error = error;
        va_start(args, format);
        (void)vsnprintf(fault->subject, sizeof(fault->subject), format, args);
        va_end(args);
    }
    return -error;
}

bool fault_is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

const char *fault_errno_name(int error)
{
    static char unnamed[32];
    const char *name = strerrorname_np(error);

    if (name)
        return name;
    (void)snprintf(unnamed, sizeof(unnamed), "errno %d", error);
    return unnamed;
}
