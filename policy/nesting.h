/* nesting.h - would this command run the vendor's own sandbox inside ours?  Pure.
 *
 * A profile's switches are gone through in the vendor's own precedence; the first that is set
 * decides.  What stands in a file is asked of a reader (an unprivileged process) and comes in as an
 * answer: nothing is guessed, and what a reader could not read is a refusal.
 */
#pragma once

#include "profile.h"
#include "reasons.h"

#define NESTING_QUESTIONS_MAX PROFILE_SWITCHES_MAX
#define NESTING_DETAIL_MAX 1024
#define NESTING_VALUE_MAX 128

/* What the leg is to execute. */
struct nesting_command {
    const char *const *argv;
    uint32_t argc;
    const char *const *env; /* NAME=VALUE: what the request passes */
    uint32_t n_env;
    const char *seat, *workspace; /* for SEAT and WORKSPACE in a remedy; NULL: there is none */
};

struct nesting_question {
    uint32_t of; /* index into profile.switches */
    enum profile_place place;
    const char *path; /* NULL for PLACE_COMMAND */
    const char *text; /* of PLACE_COMMAND: the JSON itself */
    const char *key;
};

enum nesting_found {
    FOUND_UNSET,   /* nobody looked */
    FOUND_NOTHING, /* no such file, or no such key in it */
    FOUND_VALUE,
    FOUND_BROKEN, /* cannot be read, or not of its form */
};

struct nesting_answer {
    enum nesting_found found;
    char value[NESTING_VALUE_MAX]; /* of FOUND_VALUE: true, false, a number, a string */
    char why[NESTING_VALUE_MAX];   /* of FOUND_BROKEN */
    const char *directory;         /* where, if that is not the workspace itself; NULL: it is */
};

/* One switch looked for in several directories, the nearest first: takes NEXT into *INTO.  What
 * cannot be read counts before all; a value that decides nothing does not hide another. */
void nesting_merge(const struct profile_switch *one, struct nesting_answer *into,
    const struct nesting_answer *next);

enum sandbox {
    SANDBOX_UNKNOWN,
    SANDBOX_OFF,
    SANDBOX_ON,
};

struct nesting {
    enum sandbox sandbox;
    enum reason reason; /* REASON_NONE: nothing stands against it */
    char detail[NESTING_DETAIL_MAX];
    char bypass[64]; /* the flag that says "no sandbox, no asking"; "" without one */
};

/* Where in argv the vendor's program stands (itself, or behind an interpreter or a wrapper that
 * executes it).  -ENOENT. */
int nesting_program(
    const struct profile *profile, const struct nesting_command *command, uint32_t *ret);

/* What must be looked up before nesting_judge(): the number of questions filled in. */
uint32_t nesting_questions(const struct profile *profile, const struct nesting_command *command,
    struct nesting_question questions[NESTING_QUESTIONS_MAX]);

/* Always decides.  ANSWERS: one for each question of nesting_questions(), in its order. */
void nesting_judge(const struct profile *profile, const struct nesting_command *command,
    const struct nesting_answer *answers, uint32_t n_answers, struct nesting *ret);

/* Is this refused call one of PROFILE's probes, of which it is known that the program copes? */
bool nesting_is_probe(
    const struct profile *profile, const char *call, uint64_t flags, const char *comm);

/* The command with the remedy in it, as `saphan run` would be given it: "--env A=B -- codex ...".
 * -ENOENT when the profile has none, -E2BIG when it does not fit or would not survive a terminal.
 */
int nesting_remedy(
    const struct profile *profile, const struct nesting_command *command, char *out, size_t size);

/* -- shared with nesting_remedy.c and vendor_files.c -- */

struct flag_found {
    uint32_t at, words; /* where in argv, and how many of it */
    const char *value;  /* points into argv; "true" for one that stands alone */
};

/* The last place from FROM on where ONE is set.  False: nowhere. */
bool nesting_flag(const struct profile_switch *one, const struct nesting_command *command,
    uint32_t from, struct flag_found *ret);

/* What NAME is for the program at argv[PROGRAM]; NULL: not set.  What env(1) before the program
 * sets wins over what the request passes. */
const char *nesting_variable(
    const struct nesting_command *command, uint32_t program, const char *name);

/* "*" or the word itself. */
bool nesting_means(const struct words *words, const char *value);
