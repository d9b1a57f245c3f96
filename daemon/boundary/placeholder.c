#include "placeholder.h"

#include "own.h"
#include "path.h"
#include "placeholder_mark.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

static bool is_file(uint32_t kind)
{
    return kind == CARVE_OUT_ALWAYS_FILE || kind == CARVE_OUT_ALWAYS_HERE;
}

/* The grants of a leg that holds capabilities know its requester alone, and not root: there a name
 * is made as the leg. */
static void act_as(const struct site *site, uint32_t uid, uint32_t gid)
{
    if (!site->plan->capabilities)
        return;
    (void)syscall(SYS_setfsgid, gid);
    (void)syscall(SYS_setfsuid, uid);
}

/* Opens what was just made, for reading: the mark cannot be set on an O_PATH descriptor. */
static int make(const struct site *site, int parent, const char *name, uint32_t kind)
{
    int error, fd;

    act_as(site, site->plan->uid, site->plan->gid);
    if (is_file(kind))
        fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
            PLACEHOLDER_UNFINISHED);
    else
        fd = mkdirat(parent, name, PLACEHOLDER_UNFINISHED);
    error = errno;
    act_as(site, 0, 0);
    if (fd < 0)
        return -error;
    if (is_file(kind))
        return fd;
    return path_open(parent, name, O_RDONLY | O_DIRECTORY, PATH_BENEATH | PATH_NO_SYMLINKS);
}

static int dress(int fd, uint32_t kind, const struct stat *parent, uint64_t leg)
{
    char mark[32];

    (void)snprintf(mark, sizeof(mark), "%" PRIu64, leg);
    if (fsetxattr(fd, PLACEHOLDER_MARK, mark, strlen(mark), XATTR_CREATE) < 0)
        return -errno;
    if (kind == CARVE_OUT_ALWAYS_HERE &&
        write(fd, PLACEHOLDER_HERE, strlen(PLACEHOLDER_HERE)) != (ssize_t)strlen(PLACEHOLDER_HERE))
        return -EIO;
    if (fchmod(fd, is_file(kind) ? 0644 : 0755) < 0)
        return -errno;
    return fchown(fd, parent->st_uid, parent->st_gid) < 0 ? -errno : 0;
}

static int put_mtime_back(int parent, const struct stat *before)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, before->st_mtim};

    return utimensat(parent, "", times, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

int placeholder_make(const struct site *site, int parent, const char *name, uint32_t kind)
{
    auto_close int fd = -EBADF;
    struct stat before;
    int r;

    if (fstat(parent, &before) < 0)
        return -errno;
    fd = make(site, parent, name, kind);
    if (fd == -EEXIST)
        return fd;
    r = fd < 0 ? fd : dress(fd, kind, &before, site->plan->leg);
    if (fd >= 0 && r < 0)
        (void)unlinkat(parent, name, is_file(kind) ? 0 : AT_REMOVEDIR);
    if (r == 0 || fd >= 0) {
        int back = put_mtime_back(parent, &before);

        r = r < 0 ? r : back;
    }
    return r;
}

int placeholder_is(int fd)
{
    auto_close int readable = -EBADF;
    char mark[32];

    readable = path_open(fd, ".", O_RDONLY | O_DIRECTORY, PATH_BENEATH);
    if (readable < 0)
        return readable;
    if (fgetxattr(readable, PLACEHOLDER_MARK, mark, sizeof(mark)) >= 0)
        return 1;
    return errno == ENODATA || errno == EOPNOTSUPP ? 0 : -errno;
}

/* Asks the kernel as the leg would: with a file-system uid that is not root's, the capabilities
 * that overrule permissions are out of force (capabilities(7)). */
int placeholder_is_needed(const struct site *site, int parent)
{
    const struct plan *plan = site->plan;
    struct stat st;
    int error = 0;

    if (fstat(parent, &st) < 0)
        return -errno;
    if (st.st_uid == plan->uid)
        return 1;
    if (syscall(SYS_setgroups, plan->n_groups, plan->groups) < 0)
        return -errno;
    (void)syscall(SYS_setfsgid, plan->gid);
    (void)syscall(SYS_setfsuid, plan->uid);
    if (syscall(SYS_faccessat2, parent, "", W_OK | X_OK, AT_EACCESS | AT_EMPTY_PATH) < 0)
        error = errno;
    (void)syscall(SYS_setfsuid, 0);
    (void)syscall(SYS_setfsgid, 0);
    if (syscall(SYS_setgroups, 0, NULL) < 0)
        return -errno;
    if (error == 0)
        return 1;
    return error == EACCES || error == EROFS || error == EPERM ? 0 : -error;
}
