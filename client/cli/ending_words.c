#include "ending_words.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

void ending_words(bool exited, int wait_status, char *out, size_t size)
{
    const char *name;

    if (!exited) {
        (void)snprintf(out, size, "exit not known");
        return;
    }
    if (WIFEXITED(wait_status)) {
        (void)snprintf(out, size, "exit %d", WEXITSTATUS(wait_status));
        return;
    }
    name = sigabbrev_np(WTERMSIG(wait_status));
    (void)snprintf(out, size, "signal %d (%s%s)", WTERMSIG(wait_status), name ? name : "?",
        WCOREDUMP(wait_status) ? ", core dumped" : "");
}
