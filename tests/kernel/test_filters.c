/* The leg's system call filter, call by call: each act without it (the control) and with it. */
#include "filters.h"
#include "own.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

/* What an act came to: 0, an errno, or -SIGNAL that killed it. */
typedef int deed(long argument);

enum arm { WITHOUT, WITH };

static _Noreturn void child(deed *act, long argument, enum arm arm, int verdict)
{
    int r = 0, listener;

    (void)signal(SIGSEGV, SIG_DFL); /* cmocka's handler is not for children */
    if (arm == WITH) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
            _exit(99);
        listener = seccomp_install_listener(&filter_leg);
        if (listener < 0)
            _exit(98);
        /* Without a listener what is told fails with ENOSYS: it shows that it would be told.  That
         * pid 1 answers EPERM is looked at in test_walls.c. */
        close(listener);
    }
    r = act(argument);
    _exit(write(verdict, &r, sizeof(r)) == (ssize_t)sizeof(r) ? 0 : 97);
}

static int come_to(deed *act, long argument, enum arm arm)
{
    int pair[2], status, verdict = 0;
    pid_t pid;

    assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        child(act, argument, arm, pair[1]);
    close(pair[1]);
    if (read(pair[0], &verdict, sizeof(verdict)) != (ssize_t)sizeof(verdict))
        verdict = 9999;
    close(pair[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status))
        return -WTERMSIG(status);
    assert_int_equal(WEXITSTATUS(status), 0);
    return verdict;
}

/* ---- terminals ---- */

/* Types into a terminal of its own. */
static int type(long request)
{
    int terminal = posix_openpt(O_RDWR), end;
    char byte = 'x';

    if (terminal < 0 || grantpt(terminal) < 0 || unlockpt(terminal) < 0 || setsid() < 0)
        return 9000;
    end = open(ptsname(terminal), O_RDWR);
    if (end < 0)
        return 9001;
    return syscall(SYS_ioctl, end, request, &byte) < 0 ? errno : 0;
}

static void test_typing(void **state)
{
    assert_int_equal(come_to(type, 0x5412, WITHOUT), 0);
    assert_int_equal(come_to(type, 0x5412, WITH), ENOSYS);
    /* The kernel drops the upper half of the request: so must the filter. */
    assert_int_equal(come_to(type, 0x100005412, WITHOUT), 0);
    assert_int_equal(come_to(type, 0x100005412, WITH), ENOSYS);
    assert_int_equal(come_to(type, 0x541c, WITH), ENOSYS);
    assert_int_equal(come_to(type, (long)0xffffffff0000541c, WITH), ENOSYS);
    assert_int_equal(come_to(type, TIOCSWINSZ, WITH), 0); /* the others work */
}

/* ---- foreign ABIs ---- */

#ifdef __x86_64__
static int i386_getpid(long unused)
{
    int result;

    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
    return result > 0 ? 0 : -result;
}

static int x32_getpid(long unused)
{
    long r = syscall(0x40000000 + SYS_getpid);

    return r < 0 ? errno : 0;
}

static void test_foreign_abi(void **state)
{
    int without = come_to(i386_getpid, 0, WITHOUT);

    if (without == 0)
        assert_int_equal(come_to(i386_getpid, 0, WITH), -SIGSYS);
    else
        print_message("this kernel runs no i386 calls: %d\n", without);
    without = come_to(x32_getpid, 0, WITHOUT);
    assert_true(without == 0 || without == ENOSYS);
    assert_int_equal(come_to(x32_getpid, 0, WITH), -SIGSYS);
}
#endif

/* ---- sockets ---- */

static int make_socket(long family)
{
    int fd = socket((int)(family & 0xff), (int)(family >> 8 & 0xff), (int)(family >> 16 & 0xff));

    return fd < 0 ? errno : 0;
}

static int make_pair(long family)
{
    int pair[2];

    return syscall(SYS_socketpair, family, SOCK_STREAM, 0, pair) < 0 ? errno : 0;
}

static void test_socket_families(void **state)
{
    static const int allowed[] = {AF_UNIX, AF_INET, AF_INET6};

    for (size_t i = 0; i < array_size(allowed); i++) {
        assert_int_equal(come_to(make_socket, allowed[i] | SOCK_STREAM << 8, WITHOUT), 0);
        assert_int_equal(come_to(make_socket, allowed[i] | SOCK_STREAM << 8, WITH), 0);
        assert_int_equal(come_to(make_socket, allowed[i] | SOCK_DGRAM << 8, WITH), 0);
    }
    assert_int_equal(come_to(make_pair, AF_UNIX, WITH), 0);
    assert_int_equal(come_to(make_socket, AF_NETLINK | SOCK_RAW << 8, WITH), 0); /* ROUTE */
    assert_int_equal(come_to(make_socket, AF_NETLINK | SOCK_RAW << 8 | 9 << 16, WITHOUT), 0);
    assert_int_equal(come_to(make_socket, AF_NETLINK | SOCK_RAW << 8 | 9 << 16, WITH), ENOSYS);
    assert_int_equal(come_to(make_socket, AF_PACKET | SOCK_RAW << 8, WITHOUT), 0);
    for (long family = 0; family < 46; family++) {
        if (family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK)
            continue;
        assert_int_equal(come_to(make_socket, family | SOCK_DGRAM << 8, WITH), ENOSYS);
        assert_int_equal(come_to(make_pair, family, WITH), ENOSYS);
        assert_int_equal(come_to(make_pair, family | 0x100000000, WITH), ENOSYS);
    }
}

/* ---- what builds a sandbox ---- */

static int call_clone(long flags)
{
    pid_t pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);

    if (pid == 0)
        _exit(0);
    return pid < 0 ? errno : 0;
}

static int call_unshare(long flags)
{
    return syscall(SYS_unshare, flags) < 0 ? errno : 0;
}

static int call_number(long number)
{
    return syscall(number, -1, -1, -1, -1, -1, -1) < 0 ? errno : 0;
}

static int call_seccomp(long operation)
{
    static const uint32_t action = 0x7fff0000; /* SECCOMP_RET_ALLOW */

    return syscall(SYS_seccomp, operation, 0, operation == 2 ? &action : NULL) < 0 ? errno : 0;
}

static int call_prctl(long option)
{
    return syscall(SYS_prctl, option, 2, NULL, 0, 0) < 0 ? errno : 0;
}

static void test_nesting_is_told(void **state)
{
    static const long namespaces[] = {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
        CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET};
    static const long calls[] = {SYS_setns, SYS_chroot, SYS_pivot_root, SYS_mount, SYS_umount2, 442,
        428, 429, 430, 431, 432, 433, 444, 445, 446};

    for (size_t i = 0; i < array_size(namespaces); i++) {
        assert_int_equal(come_to(call_clone, namespaces[i], WITHOUT), 0);
        assert_int_equal(come_to(call_clone, namespaces[i], WITH), ENOSYS);
        assert_int_equal(come_to(call_unshare, namespaces[i], WITHOUT), 0);
        assert_int_equal(come_to(call_unshare, namespaces[i], WITH), ENOSYS);
    }
    assert_int_equal(come_to(call_clone, 0, WITH), 0);
    assert_int_equal(come_to(call_unshare, CLONE_FILES | CLONE_FS, WITH), 0);
    for (size_t i = 0; i < array_size(calls); i++) {
        assert_int_not_equal(come_to(call_number, calls[i], WITHOUT), ENOSYS);
        assert_int_equal(come_to(call_number, calls[i], WITH), ENOSYS);
    }
    assert_int_equal(come_to(call_seccomp, 1, WITHOUT), EFAULT);
    assert_int_equal(come_to(call_seccomp, 1, WITH), ENOSYS);
    assert_int_equal(come_to(call_seccomp, 1L << 32 | 1, WITH), ENOSYS);
    assert_int_equal(come_to(call_seccomp, 2, WITH), 0); /* a question is no filter */
    assert_int_equal(come_to(call_prctl, 22, WITHOUT), EFAULT);
    assert_int_equal(come_to(call_prctl, 22, WITH), ENOSYS);
    assert_int_equal(come_to(call_prctl, 1L << 32 | 22, WITH), ENOSYS);
    assert_int_equal(
        come_to(call_prctl, PR_GET_DUMPABLE, WITH), come_to(call_prctl, PR_GET_DUMPABLE, WITHOUT));
}

static void test_dangerous_and_unknown(void **state)
{
    static const long dangerous[] = {SYS_bpf, SYS_perf_event_open, SYS_keyctl, SYS_add_key,
        SYS_request_key, SYS_userfaultfd, SYS_io_uring_setup, SYS_io_uring_enter,
        SYS_io_uring_register, SYS_init_module, SYS_finit_module, SYS_kexec_load, SYS_reboot,
        SYS_open_by_handle_at, SYS_clock_settime, SYS_acct, SYS_swapon, SYS_syslog};

    for (size_t i = 0; i < array_size(dangerous); i++)
        assert_int_equal(come_to(call_number, dangerous[i], WITH), ENOSYS);
    assert_int_equal(come_to(call_number, SYS_clone3, WITH), ENOSYS);
    assert_int_equal(come_to(call_number, 999, WITH), ENOSYS);
    assert_int_equal(come_to(call_number, SYS_getpid, WITH), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_typing),
#ifdef __x86_64__
        cmocka_unit_test(test_foreign_abi),
#endif
        cmocka_unit_test(test_socket_families),
        cmocka_unit_test(test_nesting_is_told),
        cmocka_unit_test(test_dangerous_and_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
