/* ending_words.h - how a program ended, in words. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* "exit 3", "signal 9 (KILL)", "signal 11 (SEGV, core dumped)", "exit not known". */
void ending_words(bool exited, int wait_status, char *out, size_t size);
