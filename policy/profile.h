/* profile.h - vendors: what is known of an agent program, one file for each.
 *
 * A file NAME.vendor (saphan.vendor(5)) says how to know the program, what switches its own sandbox
 * and which of them wins, which files it needs, reads and rewrites, what in a workspace can steer
 * it.  Parsing is pure: the caller read the file.  An unknown section or key, a value that fits
 * none, a switch that could never decide: an error with its line, never a default.
 */
#pragma once

#include "strict_ini.h"
#include <stdbool.h>
#include <stdint.h>

#define PROFILE_WORDS_MAX 24
#define PROFILE_SWITCHES_MAX 16
#define PROFILE_PROBES_MAX 8
#define PROFILE_STEERS_MAX 24
#define PROFILE_BUDGETS_MAX 8

struct words {
    const char *list[PROFILE_WORDS_MAX];
    uint32_t count;
};

/* What a program does with its own sandbox when nothing switches it. */
enum profile_default {
    PROFILE_DEFAULT_UNSET,
    PROFILE_DEFAULT_NONE, /* it has none, or there is no program to know */
    PROFILE_DEFAULT_OFF,
    PROFILE_DEFAULT_ON,
    PROFILE_DEFAULT_UNSETTLED, /* files decide that are not read: the command must carry a switch */
};

enum switch_kind {
    SWITCH_UNSET,
    SWITCH_FLAG,
    SWITCH_VARIABLE,
    SWITCH_SETTINGS,
};

enum flag_form {
    FLAG_ALONE,     /* --flag; also --flag=VALUE */
    FLAG_VALUE,     /* --flag VALUE, --flag=VALUE, -fVALUE */
    FLAG_KEY_VALUE, /* --flag KEY=VALUE, for one KEY */
    FLAG_JSON,      /* --flag JSON, for one key in it */
};

enum profile_place {
    PLACE_UNSET,
    PLACE_HOME,      /* relative to the seat home */
    PLACE_WORKSPACE, /* relative to the workspace */
    PLACE_SYSTEM,    /* absolute, on the host as in the leg's view */
    PLACE_COMMAND,   /* text out of the command itself (FLAG_JSON) */
};

/* One thing that switches a sandbox.  The order of a profile's switches is the vendor's own
 * precedence, as measured: the first that is set decides.  A program with more than one sandbox
 * (OF) is judged for each. */
struct profile_switch {
    const char *name;
    const char *of; /* which of the program's sandboxes; NULL: the only one */
    enum switch_kind kind;
    struct words flags;
    enum flag_form form;
    const char *variable;
    enum profile_place place;
    const char *path;
    const char *key;     /* of FLAG_KEY_VALUE, FLAG_JSON, SWITCH_SETTINGS: names with dots */
    struct words on;     /* values that mean on; "*" is any */
    struct words off;    /* values that mean off */
    struct words ignore; /* values that decide nothing: the next switch is looked at */
    const char *remedy;  /* a command for people, where the profile's words cannot mend it */
    const char *measured;
    unsigned int line;
};

/* A call that is known to be tried with the sandbox off, and whose refusal the program copes with.
 */
struct profile_probe {
    const char *name;
    const char *call;
    uint64_t flags;
    const char *comm; /* of the program that makes it */
    const char *measured;
};

/* A file of the workspace that changes what the program does. */
struct profile_steer {
    const char *name;
    const char *path;
    const char *key;       /* NULL: that the file is there */
    const char *shut_flag; /* what shuts it out: with this value if one is given */
    const char *shut_value;
    const char *shut_variable;
    const char *does;   /* for people */
    const char *remedy; /* for people: what to add */
    const char *measured;
};

struct profile_budget {
    const char *name;
    struct words flags; /* what sets it */
    uint64_t exit_status;
    bool uncertain; /* the status means other things too: it counts with a flag alone, as a "may" */
    const char *measured;
};

struct profile {
    const char *name;
    const char *file;

    struct words programs;       /* base names */
    struct words version;        /* arguments that print its version */
    struct words measured;       /* versions and dates of what stands here */
    struct words moves_settings; /* variables that put its settings elsewhere */
    enum profile_default standard;
    struct words bypass;           /* flags that mean: no asking, no sandbox */
    struct words remedy;           /* words to put into the command */
    struct words remedy_after;     /* behind the first of these in the command, else the program */
    struct words remedy_variables; /* NAME=VALUE to pass with --env */
    struct words home_writable;    /* "." is the whole */
    struct words settings;         /* relative to the seat home */
    struct words credentials;
    struct words permissions; /* relative to the workspace */
    struct words proxy;
    bool proxy_node, proxy_jvm; /* it runs on these, or starts programs that do */
    bool package;               /* its package and interpreter become read grants */

    struct profile_switch switches[PROFILE_SWITCHES_MAX];
    uint32_t n_switches;
    struct profile_probe probes[PROFILE_PROBES_MAX];
    uint32_t n_probes;
    struct profile_steer steers[PROFILE_STEERS_MAX];
    uint32_t n_steers;
    struct profile_budget budgets[PROFILE_BUDGETS_MAX];
    uint32_t n_budgets;

    char **texts; /* what all the words point to */
    size_t n_texts;
};

/* NAME is what the file is called without ".vendor": Name= must say the same.  -EINVAL with
 * *RET_ERROR, -ENOMEM; *RET is untouched then. */
int profile_parse(const char *name, const char *file, const char *text, struct profile *ret,
    struct strict_ini_error *ret_error);
void profile_done(struct profile *profile);

/* The budget of the vendor's that EXIT_STATUS means, the command holding ARGV; NULL: none. */
const struct profile_budget *profile_budget_of(const struct profile *profile,
    const char *const *argv, uint32_t argc, unsigned int exit_status);

bool words_have(const struct words *words, const char *word);
