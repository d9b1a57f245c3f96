#include "stages.h"

#include "descriptor.h"
#include "own.h"
#include "steps.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* null, zero, full, random, urandom: what a leg has in its own /dev. */
static bool is_harmless_device(dev_t device)
{
    return major(device) == 1 && (minor(device) == 3 || minor(device) == 5 || minor(device) == 7 ||
                                     minor(device) == 8 || minor(device) == 9);
}

/* A descriptor from outside is hostile: a directory would be a way out of the view, a terminal or a
 * device a way to the host, an O_PATH descriptor is a name and not a stream. */
static int check(int fd)
{
    int flags = fcntl(fd, F_GETFL), family;
    socklen_t size = sizeof(family);
    struct stat st;

    if (flags < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (flags & O_PATH)
        return -EBADF;
    if (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode))
        return 0;
    if (S_ISCHR(st.st_mode))
        return is_harmless_device(st.st_rdev) ? 0 : -ENOTTY;
    if (S_ISSOCK(st.st_mode)) {
        if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) < 0)
            return -errno;
        return family == AF_UNIX ? 0 : -EPROTONOSUPPORT;
    }
    return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
}

static int copy(int fd)
{
    int r = fcntl(fd, F_DUPFD_CLOEXEC, 3);

    return r < 0 ? -errno : r;
}

/* The stub stands between: to keep what comes, or to count it. */
static int interpose(struct site *site, size_t stream)
{
    int pair[2];

    if (pipe2(pair, O_CLOEXEC) < 0)
        return -errno;
    site->kept[stream] = pair[0];
    site->streams[stream] = pair[1];
    if (fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0)
        return -errno;
    return descriptor_let_reopen(pair[1], true);
}

static int open_stream(struct site *site, size_t stream)
{
    uint32_t mode = site->plan->streams[stream].mode;
    int fd, r;

    switch (mode) {
    case STREAM_NULL:
        site->streams[stream] = copy(site->null);
        return site->streams[stream] < 0 ? site->streams[stream] : 0;
    case STREAM_KEEP:
        return stream == 0 ? -EINVAL : interpose(site, stream);
    case STREAM_DESCRIPTOR:
    case STREAM_EVENTS:
        fd = site->descriptors[site->plan->streams[stream].descriptor];
        r = check(fd);
        if (r < 0)
            return r;
        if (stream > 0 && site->plan->limits.output)
            return interpose(site, stream);
        site->streams[stream] = copy(fd);
        return site->streams[stream] < 0 ? site->streams[stream] : 0;
    default:
        return -EINVAL;
    }
}

int stage_streams(struct site *site, struct fault *ret_fault)
{
    static const char *const names[] = {"stdin", "stdout", "stderr"};

    site->null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (site->null < 0)
        return fault_set(ret_fault, STEP_STDIO, errno, "/dev/null");
    for (size_t i = 0; i < array_size(names); i++) {
        int r = open_stream(site, i);

        if (r < 0)
            return fault_set(ret_fault, STEP_STDIO, -r, "%s", names[i]);
    }
    return 0;
}
