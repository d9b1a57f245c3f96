/* matrix_control.h - a command run by the client itself, in its user's own session: the control
 * that makes a failure inside the boundary a collision.  saphand has no part in it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_OUTPUT_MAX 4096

struct control_run {
    const char *const *argv;
    const char *const *env; /* NAME=VALUE, added to ours; NULL-terminated */
    const char *home;       /* HOME; NULL: ours */
    const char *directory;  /* NULL: ours */
    uint64_t wall_ms;
    void (*tick)(void *context); /* each second or so */
    void *context;
};

struct control_end {
    int status; /* as waitpid(2); -1: it was not started */
    int error;  /* positive errno of that */
    bool timed_out, interrupted;
    uint64_t took_ms, cpu_ms;
    char output[CONTROL_OUTPUT_MAX + 1]; /* its beginning */
    size_t n_output, more_output;
};

/* Runs it to its end or its bound; what it started is ended with it.  0 or -errno. */
int control_run(const struct control_run *run, struct control_end *ret);
