/* place.h - names of the host's files, as the client sees them. */
#pragma once

#include "client_arena.h"
#include "saphan.h"
#include <sys/stat.h>

/* Opens PATH (relative: to DIRFD) as O_PATH, following links but no magic ones. -errno. openat2(2)
 */
int place_open(int dirfd, const char *path, uint64_t flags, int *ret_fd);

/* "a FIFO", "a directory", ...: for messages. */
const char *place_kind(mode_t mode);

/* PATH made absolute by name alone, for messages. */
int place_absolute(struct arena *arena, const char *path, const char **ret);

/* The kernel's own name of the directory PATH.  -errno, -ENOTDIR. */
int place_real_directory(struct arena *arena, const char *path, const char **ret);

/* The kernel's own name of where the absolute PATH lies: its nearest existing directory is resolved
 * through links, the last component never is.  -errno; -EINVAL when a part that does not exist is
 * "..", or PATH names no file. */
int place_real_parent(struct arena *arena, const char *path, const char **ret);

/* PATH without "." and empty components.  -EINVAL for "..", or when nothing is left. */
int place_relative(struct arena *arena, const char *path, const char **ret);
