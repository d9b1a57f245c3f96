#include "measures.h"

#include "descriptor.h"
#include "identity.h"
#include "mount.h"
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define STRANGER 65534
#define CHANNEL 3
#define PROGRAM_MAX (64 * 1024 * 1024)

/* ---- capabilities ---- */

/* chroot(2) to where one is changes nothing, and needs a capability. */
void measure_capabilities(const struct bench *bench, struct rung *ret)
{
    /* uid 0 stays uid 0: what is taken away is the privilege, not the name. */
    const struct identity root = {.uid = 0, .gid = 0};
    int r;

    (void)bench;
    if (chroot("/") < 0) {
        rung_broken(ret, -errno, "chroot with all capabilities");
        return;
    }
    r = identity_give_up(&root);
    if (r < 0)
        rung_refused(ret, r, "emptying the capability sets");
    else if (!identity_is_powerless())
        rung_breached(ret, "a set that was emptied still holds a capability");
    else if (chroot("/") == 0)
        rung_breached(ret, "chroot without a capability");
    else if (errno != EPERM)
        rung_refused(ret, -errno, "chroot without a capability");
    else
        rung_holds(ret, 0, "all five sets are empty; as uid 0 chroot got EPERM, before it went");
}

/* ---- no_new_privs ---- */

static int copy_program(int program, int to)
{
    off_t at = 0;

    for (;;) {
        ssize_t n = sendfile(to, program, &at, PROGRAM_MAX);

        if (n < 0)
            return -errno;
        if (n == 0)
            return fchmod(to, 04755) < 0 ? -errno : 0;
    }
}

/* A setuid root copy of the probe, on a file system that only this process's mount namespace has:
 * nobody else can ever start it.  A descriptor to exec, or -errno. */
static int make_setuid_copy(const struct bench *bench)
{
    auto_close int mount_fd = -EBADF, to = -EBADF;
    int r, fd;

    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return -errno;
    mount_fd = mount_new("tmpfs", NULL, 0);
    if (mount_fd < 0)
        return mount_fd;
    r = mount_attach(mount_fd, AT_FDCWD, "/tmp"); /* a detached mount's setuid bits do not count */
    if (r < 0)
        return r;
    to = openat(mount_fd, "probe", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (to < 0)
        return -errno;
    r = copy_program(bench->program, to);
    if (r < 0)
        return r;
    fd = openat(mount_fd, "probe", O_PATH | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static _Noreturn void stranger(int copy, int tells, bool no_new_privs)
{
    char *const argv[] = {
        (char *)"saphan-probe", (char *)"--inside", (char *)"euid", (char *)"", NULL};
    char *const envp[] = {NULL};

    /* The program's descriptor is above 3, so it is not overwritten. */
    if (dup2(tells, CHANNEL) < 0 || setresgid(STRANGER, STRANGER, STRANGER) < 0 ||
        setresuid(STRANGER, STRANGER, STRANGER) < 0 ||
        (no_new_privs && identity_no_new_privs() < 0))
        _exit(1);
    (void)syscall(SYS_execveat, copy, "", argv, envp, AT_EMPTY_PATH);
    _exit(1);
}

/* What the copy's effective uid is when a stranger starts it; -errno. */
static int start_as_stranger(int copy, bool no_new_privs, uid_t *ret_euid)
{
    auto_close int hears = -EBADF, tells = -EBADF, above = -EBADF;
    struct rung word;
    int pair[2], r;
    pid_t pid;

    if (pipe2(pair, O_CLOEXEC) < 0)
        return -errno;
    hears = pair[0];
    tells = pair[1];
    above = fcntl(copy, F_DUPFD_CLOEXEC, CHANNEL + 1);
    if (above < 0)
        return -errno;
    pid = attempt_fork();
    if (pid < 0)
        return -errno;
    if (pid == 0)
        stranger(above, tells, no_new_privs);
    close_fd(&tells);
    r = descriptor_read_all(hears, &word, sizeof(word));
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (r == 0)
        *ret_euid = (uid_t)word.value;
    return r;
}

void measure_no_new_privs(const struct bench *bench, struct rung *ret)
{
    auto_close int copy = make_setuid_copy(bench);
    uid_t with, without;
    int r;

    if (copy < 0) {
        rung_broken(ret, copy, "a setuid program");
        return;
    }
    r = start_as_stranger(copy, false, &without);
    if (r < 0 || without != 0) {
        rung_broken(ret, r, "a setuid root program gains root");
        return;
    }
    r = start_as_stranger(copy, true, &with);
    if (r < 0)
        rung_refused(ret, r, "a setuid program under no_new_privs");
    else if (with != STRANGER)
        rung_breached(ret, "a setuid program under no_new_privs");
    else
        rung_holds(
            ret, 0, "a setuid root program stayed uid %d; without it, it was root", STRANGER);
}
