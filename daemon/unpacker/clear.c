#include "clear.h"

#include "own.h"
#include "text.h"
#include "tree.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each level holds two descriptors.  What is unpacked is never as deep. */
#define DEPTH_MAX (2 * TREE_DEPTH_MAX)

static int clear(int fd, unsigned int depth);

static int remove_name(int directory, const char *name, unsigned int depth)
{
    auto_close int fd = -EBADF;
    int r;

    if (unlinkat(directory, name, 0) == 0)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -errno;
    if (depth == DEPTH_MAX)
        return -ELOOP;
    fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    r = clear(fd, depth + 1);
    return unlinkat(directory, name, AT_REMOVEDIR) < 0 && r == 0 ? -errno : r;
}

static int clear(int fd, unsigned int depth)
{
    int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), first = 0;
    DIR *directory = again < 0 ? NULL : fdopendir(again);
    struct dirent *entry;

    if (!directory) {
        close_fd(&again);
        return -errno;
    }
    while ((entry = readdir(directory))) {
        int r;

        if (text_equal(entry->d_name, ".") || text_equal(entry->d_name, ".."))
            continue;
        r = remove_name(fd, entry->d_name, depth);
        if (first == 0)
            first = r;
    }
    (void)closedir(directory);
    return first;
}

int clear_directory(int directory)
{
    return clear(directory, 0);
}
