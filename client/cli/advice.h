/* advice.h - the command that would have helped: what shows a program that the leg's view does not
 * hold, what measures a cell that a policy demands. */
#pragma once

struct saphan_run;

/* DIRECTORY is the leg's as asked for (NULL: "/").  One line, to be freed; NULL: the program is not
 * on this host either.  Escaped. */
char *advice_for_program(const struct saphan_run *run, const char *directory);

/* ARGV is what stood behind `saphan run`.  One line, to be freed; NULL: it cannot be written as a
 * line to paste. */
char *advice_for_measuring(int argc, char *const *argv);
