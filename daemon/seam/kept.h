/* kept.h - output kept on disk, within a bound: the first half and the last half of it.
 *
 * One file a stream.  A header of KEPT_HEADER bytes {magic, cap, total}, then `cap` bytes: byte i
 * of the stream lies at i while i < cap/2, else in a ring over the second half.  The stub writes,
 * the front reads; both may be the victim of the other, so a reader checks all it reads.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define KEPT_HEADER 64

struct kept_writer {
    int fd; /* not owned */
    uint64_t cap, total;
};

/* Writes the header of an empty file. CAP is at least 2. -errno. */
int kept_start(struct kept_writer *writer, int fd, uint64_t cap);
int kept_append(struct kept_writer *writer, const void *bytes, size_t size);

struct kept_reader {
    int fd;                  /* not owned */
    uint64_t cap, total, at; /* at: next byte of the stream to hand out */
};

/* -EINVAL when FD is not such a file. */
int kept_open(struct kept_reader *reader, int fd);
/* Hands out the next bytes.  *RET_GAP is how many bytes of the stream were lost before them.
 * Returns the number of bytes, 0 when there is nothing new (call again later to follow), -errno. */
ssize_t kept_read(struct kept_reader *reader, void *buffer, size_t size, uint64_t *ret_gap);
