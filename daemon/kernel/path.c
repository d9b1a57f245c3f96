#include "path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int path_open(int dirfd, const char *path, int flags, unsigned int resolve)
{
    struct open_how how = {
        .flags = (unsigned int)(flags | O_CLOEXEC),
        .resolve = RESOLVE_NO_MAGICLINKS,
    };
    long fd;

    if (resolve & PATH_BENEATH)
        how.resolve |= RESOLVE_BENEATH;
    if (resolve & PATH_IN_ROOT)
        how.resolve |= RESOLVE_IN_ROOT;
    if (resolve & PATH_NO_SYMLINKS)
        how.resolve |= RESOLVE_NO_SYMLINKS;
    do {
        fd = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
    } while (fd < 0 && (errno == EINTR || errno == EAGAIN)); /* EAGAIN: a rename raced ".." */
    return fd < 0 ? -errno : (int)fd;
}

int path_reopen(int found, int flags)
{
    char link[32];
    int fd;

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
    do
        fd = open(link, flags | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

int path_mount(int fd, uint64_t *ret)
{
    struct statx found;

    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &found) < 0)
        return -errno;
    if (!(found.stx_mask & STATX_MNT_ID))
        return -EOPNOTSUPP;
    *ret = found.stx_mnt_id;
    return 0;
}

int path_stat(int fd, struct stat *ret, bool *ret_mount_root)
{
    struct statx found;
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &found) < 0)
        return -errno;
    if (!(found.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT))
        return -EOPNOTSUPP;
    *ret = st;
    *ret_mount_root = found.stx_attributes & STATX_ATTR_MOUNT_ROOT;
    return 0;
}
