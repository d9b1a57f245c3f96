/* advice.h - the command that would have helped: what shows a program that the leg's view does not
 * hold, what measures a cell that a policy demands. */
#pragma once

/* PROGRAM is argv[0], DIRECTORY the leg's as asked for (NULL: "/").  One line, to be freed; NULL:
 * it is not on this host either.  Escaped. */
char *advice_for_program(const char *program, const char *directory);

/* ARGV is what stood behind `saphan run`.  One line, to be freed; NULL: it cannot be written as a
 * line to paste. */
char *advice_for_measuring(int argc, char *const *argv);
