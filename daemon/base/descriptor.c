#include "descriptor.h"

#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

int descriptor_read_up_to(int fd, void *buffer, size_t size, size_t *ret_length)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = read(fd, (char *)buffer + done, size - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    *ret_length = done;
    return 0;
}

int descriptor_read_all(int fd, void *buffer, size_t size)
{
    size_t length = 0;
    int r = descriptor_read_up_to(fd, buffer, size, &length);

    if (r < 0)
        return r;
    return length == size ? 0 : -ENODATA;
}

int descriptor_write_all(int fd, const void *buffer, size_t size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = write(fd, (const char *)buffer + done, size - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        done += (size_t)n;
    }
    return 0;
}

int descriptor_read_file(int dirfd, const char *path, size_t max, char **ret_text)
{
    auto_close int fd = -EBADF;
    auto_free char *text = NULL;
    size_t done = 0;
    int r;

    fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return -errno;
    text = malloc(max + 2);
    if (!text)
        return -ENOMEM;
    r = descriptor_read_up_to(fd, text, max + 1, &done);
    if (r < 0)
        return r;
    if (done > max)
        return -EFBIG;
    /* As a string it would end there, and say less than the file. */
    if (memchr(text, '\0', done))
        return -EILSEQ;
    text[done] = '\0';
    *ret_text = steal_ptr(text);
    return 0;
}

int descriptor_write_knob(int dirfd, const char *path, const char *text)
{
    auto_close int fd = -EBADF;
    size_t length = strlen(text);
    ssize_t n;

    fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return -errno;
    n = write(fd, text, length);
    if (n < 0)
        return -errno;
    return (size_t)n == length ? 0 : -EIO;
}

int descriptor_close_from(int first, const int *keep, size_t n_keep)
{
    unsigned int from = (unsigned int)first;

    for (size_t i = 0; i < n_keep; i++) {
        if ((unsigned int)keep[i] < from)
            continue;
        if ((unsigned int)keep[i] > from && close_range(from, (unsigned int)keep[i] - 1, 0) < 0)
            return -errno;
        from = (unsigned int)keep[i] + 1;
    }
    return close_range(from, UINT_MAX, 0) < 0 ? -errno : 0;
}

int descriptor_path(int fd, char **ret_path)
{
    char link[64], path[PATH_MAX + 1];
    struct statx st;
    ssize_t n;

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof(path) - 1);
    if (n < 0)
        return -errno;
    path[n] = '\0';
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_NLINK, &st) < 0)
        return -errno;
    if (path[0] != '/' || st.stx_nlink == 0)
        return -ENOENT;
    *ret_path = strdup(path);
    return *ret_path ? 0 : -ENOMEM;
}

int descriptor_let_reopen(int fd, bool output)
{
    struct statfs system;
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISFIFO(st.st_mode) || (st.st_uid != geteuid() && geteuid() != 0))
        return 0;
    if (fstatfs(fd, &system) < 0)
        return -errno;
    if (system.f_type != PIPEFS_MAGIC)
        return 0;
    return fchmod(fd, (st.st_mode & 0777) | (output ? 0022 : 0044)) < 0 ? -errno : 0;
}
