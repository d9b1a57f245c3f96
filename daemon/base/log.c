#include "log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The one context of this file: set at start, read after. */
static struct {
    const char *program;
    enum log_level level;
    bool journal;
} log_context = {"saphan", LOG_LEVEL_INFO, false};

void log_open(const char *program, enum log_level level)
{
    log_context.program = program;
    log_context.level = level;
    log_context.journal = getenv("JOURNAL_STREAM") != NULL;
}

void log_line(enum log_level level, const char *format, ...)
{
    char line[1024];
    va_list args;
    int at, length;

    if (level > log_context.level)
        return;
    at = log_context.journal ? snprintf(line, sizeof(line), "<%d>", (int)level)
                             : snprintf(line, sizeof(line), "%s: ", log_context.program);
    va_start(args, format);
    length = vsnprintf(line + at, sizeof(line) - (size_t)at - 1, format, args);
    va_end(args);
    if (length < 0)
        return;
    at += length < (int)sizeof(line) - at - 1 ? length : (int)sizeof(line) - at - 2;
    line[at++] = '\n';
    (void)!write(STDERR_FILENO, line, (size_t)at);
}
