#include "made_path.h"

#include "own.h"
#include "path.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* What is there, with the links of its owner as long as they stay beneath; else made, in the
 * directory that was just opened. */
static int enter(int root, int parent, const char *so_far, const char *name)
{
    int fd = path_open(root, so_far, O_PATH | O_DIRECTORY, PATH_BENEATH);

    if (fd != -ENOENT)
        return fd;
    if (mkdirat(parent, name, 0700) < 0 && errno != EEXIST)
        return -errno;
    return path_open(root, so_far, O_PATH | O_DIRECTORY, PATH_BENEATH);
}

int made_path(int directory, const char *path)
{
    auto_free char *absolute = text_format("/%s", path);
    auto_close int at = -EBADF;

    if (!absolute)
        return -ENOMEM;
    if (!text_path_is_normal(absolute) || absolute[1] == '\0')
        return -EINVAL;
    for (char *slash = strchr(absolute + 1, '/'), *name = absolute + 1; name;) {
        int next;

        if (slash)
            *slash = '\0';
        next = enter(directory, at < 0 ? directory : at, absolute + 1, name);
        if (next < 0)
            return next;
        close_fd(&at);
        at = next;
        name = slash ? slash + 1 : NULL;
        if (slash)
            *slash = '/';
        slash = name ? strchr(name, '/') : NULL;
    }
    return steal_fd(&at);
}
