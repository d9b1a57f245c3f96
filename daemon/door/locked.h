/* locked.h - a header's value: in memory that is never swapped out nor dumped, and nowhere else. */
#pragma once

#include <stddef.h>

#define LOCKED_KEY_MAX 8192

struct locked_key {
    char *value; /* locked; LOCKED_KEY_MAX bytes */
    size_t length;
    const char *secret; /* of it, the word that is a secret: what stands behind "Bearer " */
    size_t secret_length;
};

/* mlock(2), MADV_DONTDUMP.  -errno; *RET is zeroed memory of whole pages. */
int locked_take(size_t size, char **ret);

/* Reads FILE (a regular file) from its start; a last line end is not part of the value.  -EINVAL:
 * empty, or a byte that cannot stand in a header; -EFBIG. */
int locked_read(int file, struct locked_key *ret);
