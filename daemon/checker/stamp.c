#include "stamp.h"

#include "descriptor.h"
#include "own.h"
#include "path.h"
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_SIZE (256U * 1024U)
#define BENEATH (PATH_BENEATH | PATH_NO_SYMLINKS)

static int64_t nanoseconds(const struct timespec *at)
{
    return (int64_t)at->tv_sec * 1000000000 + at->tv_nsec;
}

static void fill(struct artefact_stamp *stamp, const struct stat *st)
{
    stamp->regular = S_ISREG(st->st_mode);
    stamp->dev = st->st_dev;
    stamp->ino = st->st_ino;
    stamp->size = (uint64_t)st->st_size;
    stamp->mtime_ns = nanoseconds(&st->st_mtim);
    stamp->ctime_ns = nanoseconds(&st->st_ctim);
}

/* True when what FD refers to is still what STAMP says. */
static bool unchanged(int fd, const struct artefact_stamp *stamp)
{
    struct artefact_stamp now = {0};
    struct stat st;

    if (fstat(fd, &st) < 0)
        return false;
    fill(&now, &st);
    return now.regular && now.dev == stamp->dev && now.ino == stamp->ino &&
           now.size == stamp->size && now.mtime_ns == stamp->mtime_ns &&
           now.ctime_ns == stamp->ctime_ns;
}

static int digest(int fd, uint8_t ret_sha256[32])
{
    static uint8_t buffer[READ_SIZE];
    SHA2_CTX context;
    size_t length;

    SHA256Init(&context);
    do {
        int r = descriptor_read_up_to(fd, buffer, sizeof(buffer), &length);

        if (r < 0)
            return r;
        SHA256Update(&context, buffer, length);
    } while (length == sizeof(buffer));
    SHA256Final(ret_sha256, &context);
    return 0;
}

static int hash_file(int found, struct artefact_stamp *stamp)
{
    auto_close int fd = -EBADF;
    uint8_t sha256[32];
    int r;

    fd = path_reopen(found, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fd;
    if (!unchanged(fd, stamp))
        return -EBUSY;
    r = digest(fd, sha256);
    if (r < 0)
        return r;
    if (!unchanged(fd, stamp))
        return -EBUSY;
    memcpy(stamp->sha256, sha256, sizeof(sha256));
    stamp->hashed = 1;
    return 0;
}

static int take(int grant, const char *path, bool hash, struct artefact_stamp *stamp)
{
    auto_close int opened = -EBADF;
    int found = grant;
    struct stat st;

    if (path[0] != '\0') {
        opened = path_open(grant, path, O_PATH | O_NOFOLLOW, BENEATH);
        if (opened < 0)
            return opened;
        found = opened;
    }
    if (fstat(found, &st) < 0)
        return -errno;
    fill(stamp, &st);
    return hash && stamp->regular ? hash_file(found, stamp) : 0;
}

void stamp_take(int grant, const char *path, bool hash, struct artefact_stamp *ret)
{
    struct artefact_stamp stamp = {0};

    stamp.error = -take(grant, path, hash, &stamp);
    *ret = stamp;
}
