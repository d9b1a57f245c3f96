#include "stages.h"

#include "own.h"
#include "steps.h"
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* netdevice(7) */
int stage_loopback(struct site *site, struct fault *ret_fault)
{
    auto_close int fd = -EBADF;
    struct ifreq request = {.ifr_name = "lo"};

    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) < 0)
        return fault_set(ret_fault, STEP_LOOPBACK, errno, "lo");
    if (request.ifr_flags & IFF_UP)
        return 0;
    request.ifr_flags |= IFF_UP;
    if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
        return fault_set(ret_fault, STEP_LOOPBACK, errno, "lo");
    return 0;
}
