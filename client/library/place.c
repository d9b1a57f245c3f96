#include "place.h"

#include "descriptor.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>

int place_open(int dirfd, const char *path, uint64_t flags, int *ret_fd)
{
    struct open_how how = {
        .flags = flags | O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_NO_MAGICLINKS,
    };
    long fd = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));

    if (fd < 0)
        return -errno;
    *ret_fd = (int)fd;
    return 0;
}

const char *place_kind(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFREG:
        return "a regular file";
    case S_IFIFO:
        return "a FIFO";
    case S_IFSOCK:
        return "a socket";
    case S_IFCHR:
    case S_IFBLK:
        return "a device";
    case S_IFLNK:
        return "a symbolic link";
    default:
        return "an odd file";
    }
}

int place_absolute(struct arena *arena, const char *path, const char **ret)
{
    char here[PATH_MAX];
    char *out;

    if (path[0] == '/') {
        out = arena_copy(arena, path, strlen(path));
    } else {
        if (!getcwd(here, sizeof(here)))
            return -errno;
        out = arena_format(arena, "%s/%s", here, path);
    }
    if (!out)
        return -ENOMEM;
    *ret = out;
    return 0;
}

int place_real_directory(struct arena *arena, const char *path, const char **ret)
{
    auto_close int fd = -EBADF;
    auto_free char *real = NULL;
    char *out;
    int r;

    r = place_open(AT_FDCWD, path, O_DIRECTORY, &fd);
    if (r < 0)
        return r;
    r = descriptor_path(fd, &real);
    if (r < 0)
        return r;
    out = arena_copy(arena, real, strlen(real));
    if (!out)
        return -ENOMEM;
    *ret = out;
    return 0;
}

int place_relative(struct arena *arena, const char *path, const char **ret)
{
    char *out = arena_take(arena, strlen(path) + 1);
    size_t at = 0;

    if (!out)
        return -ENOMEM;
    for (size_t length; *path; path += length) {
        path += strspn(path, "/");
        length = strcspn(path, "/");
        if (length == 0 || (length == 1 && path[0] == '.'))
            continue;
        if (length == 2 && path[0] == '.' && path[1] == '.')
            return -EINVAL;
        if (at > 0)
            out[at++] = '/';
        memcpy(out + at, path, length);
        at += length;
    }
    if (at == 0)
        return -EINVAL;
    *ret = out;
    return 0;
}

/* Cuts trailing slashes, and the last component where LAST is set.  False: only "/" is left. */
static bool cut_last(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash || slash == path) {
        path[1] = '\0';
        return false;
    }
    *slash = '\0';
    return true;
}

int place_real_parent(struct arena *arena, const char *path, const char **ret)
{
    char *head = arena_copy(arena, path, strlen(path));
    const char *real, *rest;
    char *out;
    int r;

    if (!head)
        return -ENOMEM;
    while (head[0] && head[1] && head[strlen(head) - 1] == '/')
        head[strlen(head) - 1] = '\0';
    do {
        (void)cut_last(head);
        r = place_real_directory(arena, head, &real);
    } while (r == -ENOENT && head[1]);
    if (r < 0)
        return r;
    r = place_relative(arena, path + strlen(head), &rest);
    if (r < 0)
        return r;
    out = arena_format(arena, "%s/%s", real[1] ? real : "", rest);
    if (!out)
        return -ENOMEM;
    *ret = out;
    return 0;
}
