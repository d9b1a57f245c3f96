#include "devices.h"

#include "mount.h"
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The nodes every program expects, with the numbers of the kernel's devices.txt; nothing here
 * reaches hardware, a disk or memory. */
static const struct node {
    const char *name;
    unsigned int major, minor;
} nodes[] = {
    {"null", 1, 3},
    {"zero", 1, 5},
    {"full", 1, 7},
    {"random", 1, 8},
    {"urandom", 1, 9},
    {"tty", 5, 0},
};

static const struct link {
    const char *name, *target;
} links[] = {
    {"fd", "/proc/self/fd"},
    {"stdin", "/proc/self/fd/0"},
    {"stdout", "/proc/self/fd/1"},
    {"stderr", "/proc/self/fd/2"},
    {"ptmx", "pts/ptmx"},
};

static const char *const directories[] = {"pts", "shm"};

static int own(int mount, const char *name, uint32_t id)
{
    return fchownat(mount, name, id, id, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0 ? -errno : 0;
}

static int fill(int mount)
{
    for (size_t i = 0; i < array_size(nodes); i++) {
        if (mknodat(mount, nodes[i].name, S_IFCHR | 0666, makedev(nodes[i].major, nodes[i].minor)) <
                0 ||
            fchmodat(mount, nodes[i].name, 0666, 0) < 0)
            return -errno;
    }
    for (size_t i = 0; i < array_size(links); i++) {
        if (symlinkat(links[i].target, mount, links[i].name) < 0)
            return -errno;
    }
    for (size_t i = 0; i < array_size(directories); i++) {
        if (mkdirat(mount, directories[i], 0755) < 0 ||
            fchmodat(mount, directories[i], 0755, 0) < 0)
            return -errno;
    }
    return 0;
}

static int give_to(int mount, uint32_t id)
{
    int r = own(mount, "", id);

    for (size_t i = 0; r == 0 && i < array_size(nodes); i++)
        r = own(mount, nodes[i].name, id);
    for (size_t i = 0; r == 0 && i < array_size(links); i++)
        r = own(mount, links[i].name, id);
    for (size_t i = 0; r == 0 && i < array_size(directories); i++)
        r = own(mount, directories[i], id);
    return r;
}

int devices_make(uint32_t id_base, int *ret_mount)
{
    static const char *const options[] = {"mode", "0755", "size", "64k", NULL};
    auto_close int mount = -EBADF;
    int r;

    mount = mount_new("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
    if (mount < 0)
        return mount;
    r = fill(mount);
    if (r == 0)
        r = give_to(mount, id_base);
    if (r == 0)
        r = mount_set(mount, MOUNT_ATTR_RDONLY, -EBADF, false);
    if (r < 0)
        return r;
    *ret_mount = steal_fd(&mount);
    return 0;
}
