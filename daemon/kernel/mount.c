#include "mount.h"

#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mount.h>

int mount_clone(int dirfd, const char *path, unsigned int flags)
{
    int mount = open_tree(dirfd, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | flags);

    return mount < 0 ? -errno : mount;
}

int mount_set(int mount, uint64_t attr_set, int user_namespace, bool recursive)
{
    struct mount_attr attr = {.attr_set = attr_set, .propagation = MS_PRIVATE};
    unsigned int flags = AT_EMPTY_PATH;

    if (user_namespace >= 0)
        attr.userns_fd = (unsigned int)user_namespace;
    if (recursive)
        flags |= AT_RECURSIVE;
    return mount_setattr(mount, "", flags, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

int mount_make_writable(int fd)
{
    struct mount_attr attr = {.attr_clr = MOUNT_ATTR_RDONLY};

    return mount_setattr(fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

int mount_attach(int mount, int dirfd, const char *path)
{
    unsigned int flags = MOVE_MOUNT_F_EMPTY_PATH;

    if (path[0] == '\0')
        flags |= MOVE_MOUNT_T_EMPTY_PATH;
    return move_mount(mount, "", dirfd, path, flags) < 0 ? -errno : 0;
}

int mount_new(const char *type, const char *const *options, uint64_t attrs)
{
    auto_close int context = -EBADF;
    int mount;

    context = fsopen(type, FSOPEN_CLOEXEC);
    if (context < 0)
        return -errno;
    for (size_t i = 0; options && options[i]; i += 2) {
        unsigned int command = options[i + 1] ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;

        if (fsconfig(context, command, options[i], options[i + 1], 0) < 0)
            return -errno;
    }
    if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return -errno;
    mount = fsmount(context, FSMOUNT_CLOEXEC, (unsigned int)attrs);
    return mount < 0 ? -errno : mount;
}
