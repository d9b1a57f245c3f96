/* image_source.h - where an image comes from: a directory, or a tar file that is read at any place.
 *
 * Descriptors are shared with who passed them: their offsets are never used.
 */
#pragma once

#include "trouble.h"
#include <stdbool.h>
#include <stddef.h>

#define SOURCE_FILES_MAX 4096

struct blob {
    int fd;
    bool owned; /* FD is ours to close */
    uint64_t offset, size;
};

struct source_file {
    char *name;
    uint64_t offset, size;
};

struct source {
    int fd;
    bool directory;
    struct source_file *files; /* of a tar file: its regular files */
    size_t n_files;
};

/* Lists a tar file. */
int source_open(struct source *source, int fd, struct trouble *trouble);
void source_done(struct source *source);

/* NAME is relative and has no "..".  -ENOENT; -ELOOP, ... as path_open(). */
int source_find(const struct source *source, const char *name, struct blob *ret);
void blob_done(struct blob *blob);

/* At most SIZE bytes from AT on: how many; 0: the end; -errno. */
long blob_read(const struct blob *blob, uint64_t at, void *buffer, size_t size);
