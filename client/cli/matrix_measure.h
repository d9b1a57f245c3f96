/* matrix_measure.h - what the files of `saphan matrix measure` share: one cell under way. */
#pragma once

#include "matrix_cells.h"
#include "matrix_control.h"
#include "run_options.h"
#include <limits.h>

#define CONTROL_MS 20000 /* the bound of our own arms */
#define WRITTEN "saphan wrote this\n"

enum { ECHO, WRITE, OUTSIDE, GRANDCHILD, TURN, CONTROL, ARMS };

struct seen {
    uint64_t leg;
    bool refused, green;
    char outcome[16]; /* of what was no leg's end; "": saphand knows */
    char detail[900];
    char output[CONTROL_OUTPUT_MAX + 1];
    size_t n_output, more;
    int status; /* of the control */
    int64_t begun_ms;
};

struct measure {
    struct saphan *saphan;
    struct run_options options;
    const char *bin;
    const char *const *control; /* NULL-terminated */
    char *falsify;
    uint64_t cell, wall_ms;
    char *inside;                                  /* what arm 1 writes, as the leg names it */
    char *inside_here;                             /* as we do */
    char outside[PATH_MAX], canary[PATH_MAX + 16]; /* a folder of ours, and the file in it */
    int arm;
    uint64_t arm_since_us, arm_bound_ms;
    bool shown;
};

/* matrix_steps.c */
int measure_line(const struct measure *measure, const char *event, json_t *extra);
void measure_clear_progress(struct measure *measure);
void measure_tick(void *measure);

/* Waits for the END of a step.  0; or a refusal, whose words are in DETAIL (NULL: said); or < 0. */
enum { STEP_REFUSED = 1 };
int measure_await_end(struct measure *measure, uint64_t *ret_value, char *detail, size_t size);

/* Writes the row of ARM; of the control with what is about to be run.  As measure_await_end(). */
int measure_begin_arm(struct measure *measure, int arm, const char *command,
    const char *const *control, char *refusal, size_t size);
/* Amends it.  The exit status. */
int measure_end_arm(struct measure *measure, const struct seen *seen, const char *command);
char *measure_command(const char *const *argv); /* quoted; NULL: no memory */

/* matrix_arms.c, matrix_outside.c: 0, or the status to end with.  *RET_HELD: it was GREEN. */
int measure_arm(struct measure *measure, int arm, bool *ret_held);
int measure_control(struct measure *measure);
/* PATH of an artefact, as we name it; NULL: no memory. */
char *measure_place(const struct measure *measure, const char *path);
