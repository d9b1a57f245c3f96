/* program_parts.h - what belongs to a program: its package, its runtime's tree, its interpreter. */
#pragma once

#include <limits.h>

/* All of REAL, HOME: absolute, free of links.  HOME (NULL: none), what holds it and the top of the
 * tree never stand for a program: the file alone does then. */

/* The outermost node_modules (or pnpm's store) that REAL lies in; else the nearest directory above
 * it with a package.json; else REAL itself. */
void program_package(const char *real, const char *home, char out[PATH_MAX]);

/* The tree of an interpreter: X of X/bin/NAME where X holds lib/node_modules or include/node; else
 * as a package within node_modules; else REAL itself. */
void program_runtime(const char *real, const char *home, char out[PATH_MAX]);

/* What the first line of the file FD (O_PATH) wants: a path, or the word that env(1) would look
 * up; "" when it is no script.  0 or -errno: one that may be executed and not read is no script. */
int program_interpreter(int fd, char ret[PATH_MAX]);
