#include "say.h"

#include "descriptor.h"
#include "fault.h"
#include "text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int say(const char *format, ...)
{
    char line[2048] = "saphan: ";
    size_t length = strlen(line);
    va_list args;
    int r;

    va_start(args, format);
    r = vsnprintf(line + length, sizeof(line) - length - 1, format, args);
    va_end(args);
    if (r > 0)
        length = strlen(line);
    line[length++] = '\n';
    (void)descriptor_write_all(STDERR_FILENO, line, length);
    return EXIT_OURS;
}

int print_text(const char *text, size_t size)
{
    int r = descriptor_write_all(STDOUT_FILENO, text, size);

    return r < 0 ? say("standard output: %s", fault_errno_name(-r)) : 0;
}

const char *escaped(const char *text)
{
    static char ring[8][1024];
    static unsigned int at;
    char *out = ring[at++ % 8];

    text_escape(text ? text : "", out, sizeof(ring[0]));
    return out;
}

const char *time_text(long long at_ms)
{
    static char text[64];
    time_t seconds = (time_t)(at_ms / 1000);
    struct tm broken;

    if (at_ms <= 0 || !gmtime_r(&seconds, &broken) ||
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &broken) == 0)
        return "-";
    return text;
}
