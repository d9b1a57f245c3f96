/* plot.h - a piece of the host's tree for one test, and the same act without any wall. */
#pragma once

#include "warden_play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SOMEONE 1000 /* the requester of these tests: no account is needed */

struct plot {
    char path[64];
    char variable[80]; /* "G=" and the path: for scripts */
};

/* A fresh directory, owned by SOMEONE. */
void plot_make(struct plot *plot);
void plot_clear(const struct plot *plot);

/* Makes a file or directory in it, owned by UID. */
void plot_file(const struct plot *plot, const char *name, const char *text, uint32_t uid);
void plot_directory(const struct plot *plot, const char *name, uint32_t uid);
void plot_link(const struct plot *plot, const char *name, const char *target);

/* The path of NAME in it; static, good for 32 calls. */
const char *plot_path(const struct plot *plot, const char *name);

/* The control arm: the script as UID on the host, no wall around it.  Its exit status. */
int control(const struct plot *plot, uint32_t uid, const char *script);

/* A play with the plot's directory NAME ("" for all of it) as its first grant. */
struct play plot_play(const struct plot *plot, const char *name, uint32_t kind);

#define FAILS 256 /* any exit status but 0: tools differ in theirs */

/* Runs the script in the leg; fails the test, with all that is known, unless it started and ended
 * with STATUS (an exit status, FAILS, or -SIGNAL). */
void expect_status(const struct play *play, const char *script, int status);
/* And unless its output holds TEXT. */
void expect_output(const struct play *play, const char *script, int status, const char *text);
/* Fails the test unless the build failed in STEP with ERROR. */
void expect_failure(const struct play *play, uint32_t step, int error);

/* What the last play came to. */
extern struct outcome last;

/* Skips the test where PROGRAM is not installed; a failure when SAPHAN_MUST_RUN=1. */
void need_program(const char *program);
