#include "stages.h"

#include "own.h"
#include "path.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define BENEATH (PATH_BENEATH | PATH_NO_SYMLINKS)

/* By device number: a tmpfs of the host that is granted has another one. */
bool target_is_own(const struct site *site, int fd)
{
    const int own[] = {site->root, site->tmp};
    struct stat at, mine;

    if (fstat(fd, &at) < 0)
        return false;
    for (size_t i = 0; i < array_size(own); i++) {
        if (own[i] >= 0 && fstat(own[i], &mine) == 0 && mine.st_dev == at.st_dev)
            return true;
    }
    return false;
}

static int make(const struct site *site, int parent, const char *name, bool directory)
{
    if (!target_is_own(site, parent))
        return -ENOENT;
    if (directory)
        return mkdirat(parent, name, 0755) < 0 ? -errno : 0;
    return mknodat(parent, name, S_IFREG | 0644, 0) < 0 ? -errno : 0;
}

/* Opens NAME beneath PARENT, and makes it first if it is missing. */
static int step_into(
    const struct site *site, int parent, const char *name, bool directory, int *ret_fd)
{
    int flags = O_PATH | (directory ? O_DIRECTORY : 0);
    int fd = path_open(parent, name, flags, BENEATH);

    if (fd == -ENOENT) {
        int r = make(site, parent, name, directory);

        if (r < 0)
            return r;
        fd = path_open(parent, name, flags, BENEATH);
    }
    if (fd < 0)
        return fd;
    *ret_fd = fd;
    return 0;
}

static int walk(struct site *site, char *path, bool directory, int *ret_fd)
{
    auto_close int at = -EBADF;
    char *rest = path, *slash;
    int next, r;

    at = path_open(site->root, ".", O_PATH | O_DIRECTORY, BENEATH);
    if (at < 0)
        return at;
    do {
        slash = strchr(rest, '/');
        if (slash)
            *slash = '\0';
        r = step_into(site, at, rest, slash ? true : directory, &next);
        if (r < 0)
            return r;
        close_fd(&at);
        at = next;
        rest = slash ? slash + 1 : NULL;
    } while (rest);
    *ret_fd = steal_fd(&at);
    return 0;
}

int target_open(struct site *site, const char *path, bool directory, int *ret_fd)
{
    auto_free char *copy = NULL;
    struct stat st;
    int fd, r;

    if (!text_path_is_normal(path) || path[1] == '\0')
        return -EINVAL;
    fd = path_open(site->root, path + 1, O_PATH, BENEATH);
    if (fd == -ENOENT) {
        copy = strdup(path + 1);
        r = copy ? walk(site, copy, directory, &fd) : -ENOMEM;
        if (r < 0)
            return r;
    }
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0 || S_ISDIR(st.st_mode) != directory) {
        close(fd);
        return directory ? -ENOTDIR : -EISDIR;
    }
    *ret_fd = fd;
    return 0;
}
