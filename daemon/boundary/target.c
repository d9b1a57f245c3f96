#include "stages.h"

#include "own.h"
#include "path.h"
#include "text.h"
#include "way.h"
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

/* A link of the image leads where it would inside, for nobody can change it while we look; one that
 * lies in a grant is somebody's to change, and leads nowhere. */
static bool may_follow(const struct site *site, int link)
{
    uint64_t image, here;

    if (!site->plan || site->plan->boundary != BOUNDARY_CONTAINER)
        return false;
    return path_mount(site->root, &image) == 0 && path_mount(link, &here) == 0 && image == here;
}

/* Opens the next component, which is made if it is missing. */
static int open_or_make(const struct site *site, const struct way *way, bool directory)
{
    auto_close int here = -EBADF;
    int fd = way_open_name(way, site->root), r;

    if (fd != -ENOENT)
        return fd;
    here = way_open_here(way, site->root);
    if (here < 0)
        return here;
    r = make(site, here, way->name, directory || way->rest[0] != '\0');
    return r < 0 ? r : way_open_name(way, site->root);
}

static int step(const struct site *site, struct way *way, bool directory)
{
    auto_close int fd = -EBADF;
    struct stat st;

    if (text_equal(way->name, "."))
        return 0;
    if (text_equal(way->name, "..")) {
        way_pop(way);
        return 0;
    }
    fd = open_or_make(site, way, directory);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (S_ISLNK(st.st_mode))
        return may_follow(site, fd) ? way_follow(way, fd) : -ELOOP;
    if (way->rest[0] != '\0' && !S_ISDIR(st.st_mode))
        return -ENOTDIR;
    return way_push(way);
}

static int walk(const struct site *site, struct way *way, bool directory)
{
    while (way_next(way)) {
        int r = step(site, way, directory);

        if (r < 0)
            return r;
    }
    return way->rest[strspn(way->rest, "/")] != '\0' ? -ENAMETOOLONG : 0;
}

int target_find(
    const struct site *site, const char *path, bool directory, struct way *ret_way, int *ret_fd)
{
    struct way way = {.done = ""};
    struct stat st;
    int fd, r;

    if (!text_path_is_normal(path) || path[1] == '\0')
        return -EINVAL;
    if (strlen(path) >= sizeof(way.done))
        return -ENAMETOOLONG;
    strcpy(way.done, path);
    fd = path_open(site->root, path + 1, O_PATH, BENEATH);
    if (fd == -ENOENT && !strchr(path + 1, '/')) {
        /* Most targets stand in the root itself, where there is no way to look at. */
        r = make(site, site->root, path + 1, directory);
        fd = r < 0 ? r : path_open(site->root, path + 1, O_PATH, BENEATH);
    } else if (fd == -ENOENT || fd == -ELOOP) {
        way.done[0] = '\0';
        strcpy(way.rest, path);
        r = walk(site, &way, directory);
        fd = r < 0 ? r : path_open(site->root, way.done[0] ? way.done + 1 : ".", O_PATH, BENEATH);
    }
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0 || S_ISDIR(st.st_mode) != directory) {
        close(fd);
        return directory ? -ENOTDIR : -EISDIR;
    }
    if (ret_way)
        *ret_way = way;
    *ret_fd = fd;
    return 0;
}

int target_open(const struct site *site, const char *path, bool directory, int *ret_fd)
{
    return target_find(site, path, directory, NULL, ret_fd);
}
