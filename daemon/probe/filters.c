#include "measures.h"

#include "descriptor.h"
#include "filters.h"
#include "identity.h"
#include "own.h"
#include "seccomp.h"
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* The filter of a leg, as its stub raises it. The listener or -errno. */
static int raise_filter(void)
{
    int r = identity_no_new_privs();

    return r < 0 ? r : seccomp_install_listener(&filter_leg);
}

/* In a uts namespace of its own, so that the name is nobody's. */
void measure_seccomp(const struct bench *bench, struct rung *ret)
{
    int r;

    (void)bench;
    if (unshare(CLONE_NEWUTS) < 0 || sethostname("probe", 5) < 0) {
        rung_broken(ret, -errno, "sethostname without the filter");
        return;
    }
    r = identity_no_new_privs();
    if (r == 0)
        r = seccomp_install(&filter_leg);
    if (r < 0) {
        rung_refused_or_absent(ret, r, EINVAL, "seccomp(SECCOMP_SET_MODE_FILTER)");
        return;
    }
    if (sethostname("probe", 5) == 0)
        rung_breached(ret, "sethostname, which the list refuses");
    else if (errno != EPERM)
        rung_refused(ret, -errno, "sethostname under the filter");
    else if (syscall(SYS_clone3, NULL, 0) != -1 || errno != ENOSYS)
        rung_breached(ret, "clone3, which the list does not name");
    else
        rung_holds(
            ret, 0, "sethostname got EPERM, clone3 ENOSYS; without the filter it goes through");
}

/* The one who is told of: shares its parent's descriptors, so that a number is all it need say. */
static _Noreturn void told_child(int tells)
{
    int listener = -ECANCELED;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0)
        listener = unshare(CLONE_NEWUTS) < 0 ? -errno : raise_filter();
    if (descriptor_write_all(tells, &listener, sizeof(listener)) < 0 || listener < 0)
        _exit(1);
    _exit(unshare(CLONE_NEWUTS) < 0 && errno == EPERM ? 0 : 2);
}

/* 0 when the call was told and refused; *RET_WHAT says what was not so. */
static int attend(int listener, pid_t child, const char **ret_what)
{
    struct pollfd told = {.fd = listener, .events = POLLIN};
    struct seccomp_call call;
    int r;

    *ret_what = "no word of the call came";
    if (poll(&told, 1, ATTEMPT_WAIT_MS) != 1 || !(told.revents & POLLIN))
        return -ETIME;
    *ret_what = "SECCOMP_IOCTL_NOTIF_RECV";
    r = seccomp_receive(listener, &call);
    if (r < 0)
        return r;
    *ret_what = "another call was told";
    if (call.number != SYS_unshare || call.arguments[0] != CLONE_NEWUTS || call.pid != child)
        return -EBADMSG;
    *ret_what = "SECCOMP_IOCTL_NOTIF_SEND";
    return seccomp_refuse(listener, call.id, EPERM);
}

void measure_seccomp_notify(const struct bench *bench, struct rung *ret)
{
    auto_close int hears = -EBADF, tells = -EBADF;
    int pair[2], listener, status = -1, r;
    const char *what;
    pid_t child;

    (void)bench;
    if (pipe2(pair, O_CLOEXEC) < 0) {
        rung_broken(ret, -errno, "pipe2");
        return;
    }
    hears = pair[0];
    tells = pair[1];
    child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0)
        told_child(tells);
    r = child < 0 ? -errno : descriptor_read_all(hears, &listener, sizeof(listener));
    if (r < 0) {
        rung_broken(ret, r, "a child that makes a listener");
        return;
    }
    if (listener < 0) {
        rung_refused_or_absent(ret, listener, EINVAL, "seccomp(SECCOMP_FILTER_FLAG_NEW_LISTENER)");
        return;
    }
    r = attend(listener, child, &what);
    close(listener); /* what still waits for an answer gets ENOSYS */
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (r < 0)
        rung_refused(ret, r, what);
    else if (status != 0)
        rung_breached(ret, "a call that its supervisor refused");
    else
        rung_holds(ret, 0, "unshare was told to its supervisor, and refused on its word");
}

/* The far end of a new terminal. A descriptor or -errno. */
static int open_terminal(void)
{
    auto_close int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    int unlock = 0, terminal;

    if (master < 0)
        return -errno;
    if (ioctl(master, TIOCSPTLCK, &unlock) < 0)
        return -errno;
    terminal = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0)
        return -errno;
    (void)steal_fd(&master); /* stays open as long as this process: else the terminal hangs up */
    return terminal;
}

/* The kernel looks at the lower half of the request alone, so both spellings are tried. */
void measure_tiocsti(const struct bench *bench, struct rung *ret)
{
    const unsigned long spellings[] = {TIOCSTI, TIOCSTI | 1UL << 32};
    auto_close int terminal = open_terminal();
    int listener;

    (void)bench;
    if (terminal < 0) {
        rung_broken(ret, terminal, "a new terminal");
        return;
    }
    for (size_t i = 0; i < array_size(spellings); i++) {
        if (syscall(SYS_ioctl, terminal, spellings[i], "x") < 0) {
            rung_broken(ret, -errno, "TIOCSTI without the filter");
            return;
        }
    }
    listener = raise_filter();
    if (listener < 0) {
        rung_refused_or_absent(ret, listener, EINVAL, "seccomp(SECCOMP_FILTER_FLAG_NEW_LISTENER)");
        return;
    }
    /* A leg's pid 1 answers EPERM; where nobody listens the kernel says ENOSYS.  Neither types. */
    close(listener);
    for (size_t i = 0; i < array_size(spellings); i++) {
        if (syscall(SYS_ioctl, terminal, spellings[i], "x") == 0) {
            rung_breached(ret, "TIOCSTI under the filter");
            return;
        }
        if (errno != ENOSYS) {
            rung_refused(ret, -errno, "TIOCSTI under the filter");
            return;
        }
    }
    rung_holds(ret, 0,
        "TIOCSTI was held back for pid 1 in both its spellings; without the filter it types");
}
