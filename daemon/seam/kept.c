#include "kept.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char kept_magic[8] = "sapkept1";

struct kept_header {
    char magic[8];
    uint64_t cap, total;
};

/* Where byte AT of the stream lies in the file, and how many bytes follow it without a wrap. */
static off_t place(uint64_t cap, uint64_t at, uint64_t *ret_run)
{
    uint64_t half = cap / 2, ring = cap - half, in_ring;

    if (at < half) {
        *ret_run = half - at;
        return (off_t)(KEPT_HEADER + at);
    }
    in_ring = (at - half) % ring;
    *ret_run = ring - in_ring;
    return (off_t)(KEPT_HEADER + half + in_ring);
}

static int write_at(int fd, const void *bytes, size_t size, off_t at)
{
    while (size > 0) {
        ssize_t n = pwrite(fd, bytes, size, at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        bytes = (const char *)bytes + n;
        size -= (size_t)n;
        at += n;
    }
    return 0;
}

static int write_header(const struct kept_writer *writer)
{
    struct kept_header header = {.cap = writer->cap, .total = writer->total};

    memcpy(header.magic, kept_magic, sizeof(header.magic));
    return write_at(writer->fd, &header, sizeof(header), 0);
}

int kept_start(struct kept_writer *writer, int fd, uint64_t cap)
{
    *writer = (struct kept_writer){.fd = fd, .cap = cap < 2 ? 2 : cap};
    return write_header(writer);
}

int kept_append(struct kept_writer *writer, const void *bytes, size_t size)
{
    while (size > 0) {
        uint64_t run;
        off_t at = place(writer->cap, writer->total, &run);
        size_t now = size < run ? size : (size_t)run;
        int r = write_at(writer->fd, bytes, now, at);

        if (r < 0)
            return r;
        writer->total += now;
        bytes = (const char *)bytes + now;
        size -= now;
    }
    return write_header(writer);
}

static int read_header(int fd, struct kept_header *ret)
{
    struct kept_header header;

    if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
        memcmp(header.magic, kept_magic, sizeof(header.magic)) != 0 || header.cap < 2 ||
        header.cap > (uint64_t)INT64_MAX / 2 || header.total > (uint64_t)INT64_MAX / 2)
        return -EINVAL;
    *ret = header;
    return 0;
}

int kept_open(struct kept_reader *reader, int fd)
{
    struct kept_header header;
    int r = read_header(fd, &header);

    if (r < 0)
        return r;
    *reader = (struct kept_reader){.fd = fd, .cap = header.cap, .total = header.total};
    return 0;
}

ssize_t kept_read(struct kept_reader *reader, void *buffer, size_t size, uint64_t *ret_gap)
{
    uint64_t half = reader->cap / 2, ring = reader->cap - half, run, oldest;
    struct kept_header header;
    off_t at;
    ssize_t n;
    int r = read_header(reader->fd, &header);

    if (r < 0)
        return r;
    if (header.cap != reader->cap || header.total < reader->total)
        return -EINVAL;
    reader->total = header.total;
    *ret_gap = 0;
    oldest = reader->total > half + ring ? reader->total - ring : half;
    if (reader->at >= half && reader->at < oldest) {
        *ret_gap = oldest - reader->at;
        reader->at = oldest;
    }
    if (reader->at >= reader->total)
        return 0;
    at = place(reader->cap, reader->at, &run);
    if (run > reader->total - reader->at)
        run = reader->total - reader->at;
    n = pread(reader->fd, buffer, size < run ? size : (size_t)run, at);
    if (n < 0)
        return -errno;
    reader->at += (uint64_t)n;
    return n == 0 ? -EINVAL : n; /* the header promises bytes that are not there */
}
