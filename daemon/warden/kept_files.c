#include "kept_files.h"

#include "kept.h"
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

static void name_of(uint64_t leg, size_t stream, char name[32])
{
    (void)snprintf(name, 32, "%llu.%zu", (unsigned long long)leg, stream);
}

int kept_file_make(struct warden *warden, uint64_t leg, size_t stream, int *ret_fd)
{
    char name[32];
    int fd;

    name_of(leg, stream, name);
    fd = openat(warden->kept, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    *ret_fd = fd;
    return 0;
}

int kept_file_open(struct warden *warden, uint64_t leg, size_t stream, int *ret_fd)
{
    char name[32];
    int fd;

    name_of(leg, stream, name);
    fd = openat(warden->kept, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    *ret_fd = fd;
    return 0;
}

void kept_files_count(struct warden *warden, uint64_t leg, uint64_t ret[2])
{
    for (size_t stream = 1; stream <= 2; stream++) {
        struct kept_reader reader;
        auto_close int fd = -EBADF;

        if (kept_file_open(warden, leg, stream, &fd) == 0 && kept_open(&reader, fd) == 0)
            ret[stream - 1] = reader.total;
    }
}

void kept_files_remove(struct warden *warden, uint64_t leg)
{
    char name[32];

    for (size_t stream = 1; stream <= 2; stream++) {
        name_of(leg, stream, name);
        (void)unlinkat(warden->kept, name, 0);
    }
}
