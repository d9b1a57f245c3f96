#include "seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static long install(const struct seccomp_filter *filter, unsigned int flags)
{
    struct sock_fprog program = {
        .len = (unsigned short)filter->length,
        .filter = (struct sock_filter *)(uintptr_t)filter->code, /* the kernel only reads it */
    };

    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

int seccomp_install(const struct seccomp_filter *filter)
{
    return install(filter, 0) < 0 ? -errno : 0;
}

int seccomp_install_listener(const struct seccomp_filter *filter)
{
    long r = install(filter, SECCOMP_FILTER_FLAG_NEW_LISTENER);

    return r < 0 ? -errno : (int)r;
}

int seccomp_receive(int listener, struct seccomp_call *ret)
{
    struct seccomp_notif told;

    memset(&told, 0, sizeof(told)); /* the kernel refuses one that is not zero */
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &told) < 0)
        return -errno;
    ret->id = told.id;
    ret->pid = (pid_t)told.pid;
    ret->number = told.data.nr;
    for (size_t i = 0; i < 6; i++)
        ret->arguments[i] = told.data.args[i];
    return 0;
}

int seccomp_refuse(int listener, uint64_t id, int error)
{
    struct seccomp_notif_resp answer = {.id = id, .error = -error};

    return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) < 0 ? -errno : 0;
}
