#include "stages.h"

#include "mount.h"
#include "own.h"
#include "path.h"
#include "steps.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>

/* The kernel's knobs, and pid 1's: to be read alone.  (A leg that is uid 0 owns pid 1's.) */
static const char *const read_only[] = {"sys", "irq", "bus", "fs", "1"};

/* What tells of the machine or steers it, and no program of a leg needs.  Most of it is closed to a
 * stranger anyway; this holds for whoever the leg is. */
static const char *const masked[] = {"kcore", "keys", "kmsg", "kallsyms", "timer_list",
    "sched_debug", "sysrq-trigger", "acpi", "scsi"};

static int open_entry(const struct site *site, const char *name)
{
    return path_open(site->proc, name, O_PATH, PATH_BENEATH | PATH_NO_SYMLINKS);
}

static int make_read_only(const struct site *site, const char *name)
{
    auto_close int fd = -EBADF, copy = -EBADF;
    int r;

    fd = open_entry(site, name);
    if (fd == -ENOENT)
        return 0; /* this kernel has no such directory */
    if (fd < 0)
        return fd;
    copy = mount_clone(fd, "", 0);
    if (copy < 0)
        return copy;
    r = mount_set(copy, MOUNT_ATTR_RDONLY, -EBADF, false);
    return r < 0 ? r : mount_attach(copy, fd, "");
}

static int hide(const struct site *site, const char *name)
{
    auto_close int fd = -EBADF;

    fd = open_entry(site, name);
    if (fd == -ENOENT)
        return 0;
    return fd < 0 ? fd : mask_cover(site, fd);
}

/* The kernel gives a user namespace a /proc only while a whole one is in sight: so it is made
 * before the host's tree goes.  Everything under /proc/PID stays as it is: a process's own files
 * can be written, which programs need (/proc/self/comm, oom_score_adj). */
int stage_proc(struct site *site, struct fault *ret_fault)
{
    auto_close int at = -EBADF;
    int r;

    site->proc = mount_new("proc", NULL, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    if (site->proc < 0)
        return fault_set(ret_fault, STEP_PROC, -site->proc, "a /proc of its own");
    r = target_open(site, "/proc", true, &at);
    if (r == 0)
        r = mount_attach(site->proc, at, "");
    if (r < 0)
        return fault_set(ret_fault, STEP_PROC, -r, "/proc");
    for (size_t i = 0; i < array_size(read_only); i++) {
        r = make_read_only(site, read_only[i]);
        if (r < 0)
            return fault_set(ret_fault, STEP_PROC, -r, "/proc/%s", read_only[i]);
    }
    for (size_t i = 0; i < array_size(masked); i++) {
        r = hide(site, masked[i]);
        if (r < 0)
            return fault_set(ret_fault, STEP_PROC, -r, "/proc/%s", masked[i]);
    }
    return 0;
}

static int uncover(const struct site *site, const char *name)
{
    auto_close int fd = -EBADF;
    char path[32];
    bool mount_root;
    struct stat st;
    int r;

    fd = open_entry(site, name);
    if (fd == -ENOENT)
        return 0;
    r = fd < 0 ? fd : path_stat(fd, &st, &mount_root);
    if (r < 0 || !mount_root)
        return r;
    (void)snprintf(path, sizeof(path), "/proc/%s", name);
    return umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) < 0 ? -errno : 0;
}

/* The kernel lets nobody inside mount a /proc while parts of the only one in sight are covered
 * (bubblewrap#505): a leg that may build a sandbox of its own has it uncovered.  What was covered
 * is the host root's, to which the leg is no one; it loses a second wall, not the first. */
int proc_unmask(struct site *site)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < array_size(read_only); i++)
        r = uncover(site, read_only[i]);
    for (size_t i = 0; r == 0 && i < array_size(masked); i++)
        r = uncover(site, masked[i]);
    return r;
}
