#include "boundary.h"

#include "mount.h"
#include "own.h"
#include "steps.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Nothing of it is shared with the host's: what is mounted there later does not come here. */
static int make_private(const char *path)
{
    auto_close int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 ? -errno : mount_set(fd, 0, -EBADF, true);
}

/* With what covers parts of it: the kernel gives a user namespace no more of a /proc than is in
 * sight. */
static int attach_proc(int root, int proc)
{
    if (mkdirat(root, "proc", 0555) < 0)
        return -errno;
    return mount_attach(proc, root, "proc");
}

static int become_root(int root)
{
    if (fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0)
        return -errno;
    return chdir("/") < 0 ? -errno : 0;
}

int boundary_leave_host(struct fault *ret_fault)
{
    static const char *const options[] = {"mode", "0555", "size", "4k", "nr_inodes", "8", NULL};
    auto_close int proc = -EBADF, root = -EBADF;
    int r;

    proc = mount_clone(AT_FDCWD, "/proc", AT_RECURSIVE);
    r = proc < 0 ? proc : mount_set(proc, 0, -EBADF, true);
    if (r < 0)
        return fault_set(ret_fault, STEP_PROC, -r, "the host's /proc");
    root = mount_new("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    if (root < 0)
        return fault_set(ret_fault, STEP_ROOT, -root, "a root for slots");
    r = unshare(CLONE_NEWNS) < 0 ? -errno : make_private("/");
    if (r == 0)
        r = mount_attach(root, AT_FDCWD, "/");
    if (r == 0)
        r = attach_proc(root, proc);
    if (r == 0)
        r = mount_set(root, MOUNT_ATTR_RDONLY, -EBADF, false);
    if (r == 0)
        r = become_root(root);
    return r < 0 ? fault_set(ret_fault, STEP_PIVOT, -r, "a root for slots") : 0;
}
