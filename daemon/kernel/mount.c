#include "mount.h"

#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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

static int set_string(int context, const char *key, const char *value)
{
    return fsconfig(context, FSCONFIG_SET_STRING, key, value, 0) < 0 ? -errno : 0;
}

/* One list, which every kernel knows, and which fsconfig(2) bounds to 255 bytes. */
static int set_layers_joined(int context, const char *const *layers, size_t n_layers)
{
    char joined[256];
    size_t at = 0;

    for (size_t i = 0; i < n_layers; i++) {
        int n = snprintf(joined + at, sizeof(joined) - at, "%s%s", i ? ":" : "", layers[i]);

        if (n < 0 || (size_t)n >= sizeof(joined) - at)
            return -E2BIG;
        at += (size_t)n;
    }
    return set_string(context, "lowerdir", joined);
}

/* More than fit into it go one by one, which is new in 6.7: older kernels take any name of an
 * option here, or none, and say EINVAL in the end. */
static int set_layers(int context, const char *const *layers, size_t n_layers)
{
    int r = set_layers_joined(context, layers, n_layers);

    if (r != -E2BIG)
        return r;
    r = 0;
    for (size_t i = 0; r == 0 && i < n_layers; i++)
        r = set_string(context, "lowerdir+", layers[i]);
    return r;
}

int mount_overlay(
    const char *const *layers, size_t n_layers, const char *upper, const char *work, uint64_t attrs)
{
    auto_close int context = -EBADF;
    int mount, r;

    context = fsopen("overlay", FSOPEN_CLOEXEC);
    if (context < 0)
        return -errno;
    r = set_layers(context, layers, n_layers);
    if (r == 0)
        r = set_string(context, "upperdir", upper);
    if (r == 0)
        r = set_string(context, "workdir", work);
    if (r < 0)
        return r;
    if (fsconfig(context, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) < 0 ||
        fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return -errno;
    mount = fsmount(context, FSMOUNT_CLOEXEC, (unsigned int)attrs);
    return mount < 0 ? -errno : mount;
}
