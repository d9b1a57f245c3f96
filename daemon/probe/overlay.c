#include "measures.h"

#include "inside.h"
#include "mount.h"
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define CHANNEL 3

static int hand_over(int channel, int fd)
{
    char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = control,
        .msg_controllen = sizeof(control)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    return sendmsg(channel, &message, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

static int take_over(void)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = control,
        .msg_controllen = sizeof(control)};
    struct cmsghdr *header;
    int fd;

    if (recvmsg(CHANNEL, &message, MSG_CMSG_CLOEXEC) != 1)
        return -errno;
    header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_len != CMSG_LEN(sizeof(int)))
        return -EBADMSG;
    memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    return fd;
}

/* A place of its own over /tmp, in its own mount namespace. */
static int make_places(int layer)
{
    auto_close int scratch = mount_new("tmpfs", NULL, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    int r;

    if (scratch < 0)
        return scratch;
    if (mkdirat(scratch, "layer", 0755) < 0 || mkdirat(scratch, "upper", 0755) < 0 ||
        mkdirat(scratch, "work", 0755) < 0)
        return -errno;
    r = mount_attach(scratch, AT_FDCWD, "/tmp");
    return r < 0 ? r : mount_attach(layer, AT_FDCWD, "/tmp/layer");
}

static void judge(int overlay, struct rung *ret)
{
    static const char name[] = "saphan-probe";
    struct stat top, upper;

    if (fstat(overlay, &top) < 0)
        rung_broken(ret, -errno, "fstat");
    else if (mkdirat(overlay, name, 0755) < 0)
        rung_refused(ret, -errno, "mkdir in the stack");
    else if (stat("/tmp/upper/saphan-probe", &upper) < 0)
        rung_breached(ret, "what is written to the stack is not in its upper directory");
    else if (stat("/tmp/layer/saphan-probe", &upper) == 0)
        rung_breached(ret, "what is written to the stack is in the layer");
    else
        rung_holds(ret, 0, "/usr as an id-mapped layer: what is written goes above it");
}

void in_overlay(const char *argument, struct rung *ret)
{
    static const char *const layers[] = {"/tmp/layer"};
    auto_close int layer = -EBADF, overlay = -EBADF;
    int r;

    layer = take_over();
    r = layer < 0 ? layer : make_places(layer);
    if (r < 0) {
        rung_broken(ret, r, "a layer in a mount namespace of its own");
        return;
    }
    overlay = mount_overlay(layers, 1, "/tmp/upper", "/tmp/work", 0);
    if (overlay < 0)
        rung_refused_or_absent(ret, overlay, ENODEV, "overlayfs in a user namespace");
    else
        judge(overlay, ret);
}

/* The host's /usr as the one layer. */
void measure_overlay(const struct bench *bench, struct rung *ret)
{
    auto_close int layer = -EBADF;
    struct inside inside;
    int r;

    r = inside_start(bench, CLONE_NEWNS, -EBADF, "overlay", "", &inside);
    if (r < 0) {
        rung_broken(ret, r, "a child in user and mount namespaces");
        return;
    }
    layer = mount_clone(AT_FDCWD, "/usr", 0);
    r = layer < 0 ? layer
                  : mount_set(layer, MOUNT_ATTR_IDMAP | MOUNT_ATTR_RDONLY,
                        inside.child.user_namespace, false);
    if (r < 0)
        rung_refused(ret, r, "an id-mapped layer");
    else if ((r = hand_over(inside.channel, layer)) < 0 || (r = inside_hear(&inside, ret)) < 0)
        rung_broken(ret, r, "asking the child");
    inside_end(&inside);
}
