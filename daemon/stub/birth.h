/* birth.h - the process that becomes the leg's program. */
#pragma once

#include "boundary.h"
#include <sys/types.h>

struct program {
    struct site *site;
    int channel;
    char *const *argv;
    char *const *env;
    uint64_t asked_us; /* when the plan came, CLOCK_MONOTONIC */

    /* Written by the process itself, in the memory it shares with its parent. */
    struct fault fault; /* step 0: none */
    bool raised;        /* the last wall stands, exec is next */
    int listener;       /* in the parent's table too */
};

/* Starts it: raises the walls, says READY, waits for GO, executes.  Returns when exec has succeeded
 * (0, *RET_PID) or when the process has ended without it (-errno, program->fault filled). */
int program_start(struct program *program, pid_t *ret_pid);

/* execve of ARGV[0], looked for in ENV's PATH as execvp(3) does.  Returns only to fail: -ENOENT
 * nowhere; -EACCES found, but not to be executed; -ENOEXEC no program; -errno. */
int program_execute(char *const *argv, char *const *env);
