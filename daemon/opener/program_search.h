/* program_search.h - where a program really lies: every name on the way, its package, its
 * interpreter.
 *
 * By names, as the one who asks: from the word in the command through search path, links and
 * node_modules.  Each step says whether its asker could change it; what is found is what the
 * kernel would execute now, and a name that changes later can only fail.
 */
#pragma once

#include "messages.h"
#include <sys/stat.h>

struct program_step {
    enum trail_kind kind;
    bool interpreter;   /* a step of the interpreter's; else of the program's */
    bool writable;      /* the asker may change it, or what it is called */
    int descriptor;     /* O_PATH; -EBADF where none is handed on */
    struct stat st;     /* of TRAIL_FILE */
    const char *path;   /* absolute, normal; but for TRAIL_LINK free of links */
    const char *target; /* what a link says; of TRAIL_FILE: the name it was found by */
};

struct program_search {
    const char *program;       /* a word of the command */
    const char *directory;     /* absolute: where a relative word begins */
    const char *path;          /* PATH */
    const char *home;          /* never handed on as a whole, nor what holds it; NULL: none */
    const char *const *before; /* the words before it, NULL-terminated: may name its interpreter */
    /* Owns nothing of STEP.  Not 0: the search ends with it. */
    int (*take)(void *context, const struct program_step *step);
    void *context;
};

/* 0; -ENOENT: there is no such program; what TAKE returned; -errno. */
int program_search(const struct program_search *search);
