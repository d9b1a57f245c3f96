/* advice.h - what would have shown a program that the leg's view does not hold. */
#pragma once

/* PROGRAM is argv[0], DIRECTORY the leg's as asked for (NULL: "/").  One line, to be freed; NULL:
 * it is not on this host either.  Escaped. */
char *advice_for_program(const char *program, const char *directory);
