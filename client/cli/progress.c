#include "progress.h"

#include "descriptor.h"
#include <stdio.h>
#include <string.h>

#define FIRST_MS 2000
#define EACH_MS 1000

int progress_timeout(const struct progress *progress)
{
    if (progress->over)
        return -1;
    return progress->seconds == 0 ? FIRST_MS : EACH_MS;
}

void progress_show(struct progress *progress)
{
    char line[120];

    if (progress->seconds == 0 && !isatty(STDERR_FILENO)) {
        progress->over = true;
        return;
    }
    progress->seconds += progress->seconds == 0 ? FIRST_MS / 1000 : 1;
    (void)snprintf(line, sizeof(line), "\r\033[Ksaphan: waiting for saphand to %s, %u s",
        progress->accepted ? "start the program" : "answer", progress->seconds);
    (void)descriptor_write_all(STDERR_FILENO, line, strlen(line));
    progress->shown = true;
}

void progress_clear(struct progress *progress)
{
    if (progress->shown)
        (void)descriptor_write_all(STDERR_FILENO, "\r\033[K", strlen("\r\033[K"));
    progress->shown = false;
}
