/* descriptor.h - work on file descriptors that is not a kernel facility of its own. */
#pragma once

#include "own.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Reads until SIZE bytes are there or the file ends, through EINTR.  0 or -errno. */
int descriptor_read_up_to(int fd, void *buffer, size_t size, size_t *ret_length);

/* Reads or writes all SIZE bytes, through EINTR.  0, -errno, or -ENODATA on an early end. */
int descriptor_read_all(int fd, void *buffer, size_t size);
int descriptor_write_all(int fd, const void *buffer, size_t size);

/* Reads the whole of a small file at DIRFD/PATH as a string.  -EFBIG above MAX bytes,
 * -EILSEQ when a NUL is among them. */
int descriptor_read_file(int dirfd, const char *path, size_t max, char **ret_text);

/* Writes TEXT to an existing file (a kernel knob) in one write.  O_CREAT is never used. */
int descriptor_write_knob(int dirfd, const char *path, const char *text);

/* Closes every descriptor from FIRST up that is not in the ascending list KEEP (close_range(2)). */
int descriptor_close_from(int first, const int *keep, size_t n_keep);

/* The kernel's own name of what FD refers to (readlink of /proc/self/fd/FD).  The file system's
 * server, if it has one, is not asked: it may hang.  -ENOENT when it is
 * not reachable by a path (deleted, anonymous). */
int descriptor_path(int fd, char **ret_path);

/* Lets whoever is given FD, an end of a pipe, open that end once more by its name in /proc/self/fd,
 * as
 * `> /dev/stdout` does: for writing if OUTPUT, else for reading.  Without that only the pipe's
 * owner may, and a leg is nobody to the host.  Nothing is given away: the name leads only those
 * there who may look into a process that holds the pipe.  What is no pipe without a name, or is
 * another's, is left alone. 0 or -errno. */
int descriptor_let_reopen(int fd, bool output);
