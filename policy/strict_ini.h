/* strict_ini.h - INI files in which nothing is forgiven: the lines of a policy or of a vendor's
 * profile.
 *
 * inih splits the lines; what it would let pass (text behind a value taken for a comment, `:` for
 * `=`, a continued line, a line that is too long, a control character) is refused before it sees
 * them.  Pure: the caller read the file.
 */
#pragma once

#include "own.h"
#include <stdbool.h>

struct strict_ini_error {
    unsigned int line;
    char message[480]; /* says what was found and what would be right */
};

struct strict_ini {
    /* A section: what stands between the brackets.  Failures are made by strict_ini_error(). */
    int (*section)(struct strict_ini *ini, const char *inner);
    int (*key)(struct strict_ini *ini, const char *key, const char *value);
    const char *first; /* how the first section is written, for messages */
    void *context;

    bool begun;        /* a section is open */
    unsigned int line; /* where the reading stands */
    const char *at;
    int result;
    struct strict_ini_error error;
};

/* Reads all of TEXT.  -EINVAL with ini->error filled, -ENOMEM. */
int strict_ini_read(struct strict_ini *ini, const char *text);

/* Records the first failure with the current line, returns -EINVAL. */
int strict_ini_error(struct strict_ini *ini, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Cuts the next word off *AT: up to white space, or what stands in quotes, double or
 * single (which may be empty).  1 with *RET_WORD to be freed, 0 at the end, or a failure. */
int strict_ini_word(struct strict_ini *ini, const char **at, char **ret_word);
