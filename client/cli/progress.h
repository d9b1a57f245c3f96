/* progress.h - what a person sees while nothing has started yet. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool over;  /* started, or nobody watches */
    bool shown; /* a line stands on the terminal */
    bool accepted;
    unsigned int seconds;
};

/* How long to wait before progress_show() is due, in milliseconds; -1: for ever. */
int progress_timeout(const struct progress *progress);

/* Nothing came for so long: says so, if standard error is a terminal. */
void progress_show(struct progress *progress);

/* Takes the line off the terminal. */
void progress_clear(struct progress *progress);
