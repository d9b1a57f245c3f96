/* birth.h - the process that becomes the leg's program.
 *
 * It is a child that shares pid 1's memory and descriptors until it executes: so it can tell of a
 * failure by writing it down, and the listener of its filter lands in pid 1's table.  The two never
 * run at the same time (they also share errno): the child raises the walls while pid 1 sleeps, pid
 * 1 gives up its own power while the child sleeps, and then the child executes.
 */
#pragma once

#include "boundary.h"
#include <sys/types.h>

struct program {
    struct site *site;
    char *const *argv;
    char *const *env;

    pid_t pid;
    int listener;       /* of the calls that build a sandbox */
    struct fault fault; /* step 0: none */

    int stage; /* futex: the child's pid; then BIRTH_RAISED; the kernel clears it at exec or exit */
    int go;    /* futex: 1 when the child may execute */
};

/* Starts the child and returns when its last wall stands: 0, or -errno with program->fault filled
 * and the child gone. */
int program_raise(struct program *program);

/* Lets it execute.  0 when exec has succeeded, or -errno as above. */
int program_release(struct program *program);

/* execve of ARGV[0], looked for in ENV's PATH as execvp(3) does.  Returns only to fail: -ENOENT
 * nowhere; -EACCES found, but not to be executed; -ENOEXEC no program; -errno. */
int program_execute(char *const *argv, char *const *env);
