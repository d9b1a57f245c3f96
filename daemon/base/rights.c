#include "rights.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void rights_put(struct msghdr *message, void *space, const int *descriptors, size_t n)
{
    struct cmsghdr *control = space;

    if (n == 0)
        return;
    message->msg_control = space;
    message->msg_controllen = CMSG_SPACE(sizeof(int) * n);
    memset(space, 0, message->msg_controllen);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(int) * n);
    memcpy(CMSG_DATA(control), descriptors, sizeof(int) * n);
}

static int take_one(struct cmsghdr *control, int *into, size_t max, size_t *n)
{
    size_t count;
    int r = 0;

    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
        return RIGHTS_E_FOREIGN;
    count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; i++) {
        int fd;

        memcpy(&fd, CMSG_DATA(control) + i * sizeof(int), sizeof(int));
        if (*n < max) {
            into[(*n)++] = fd;
        } else {
            close(fd);
            r = RIGHTS_E_TOO_MANY;
        }
    }
    return r;
}

int rights_take(struct msghdr *message, int *into, size_t max, size_t *n)
{
    int r = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        int taken = take_one(c, into, max, n);

        r = taken ? taken : r;
    }
    if (!(message->msg_flags & MSG_CTRUNC))
        return r;
    /* Cut although INTO has room: the kernel found no descriptor of ours for the next one. */
    return r == 0 && *n < max ? -EMFILE : RIGHTS_E_TOO_MANY;
}
