#include "zygote.h"

#include "messages.h"
#include "namespace.h"
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void tell(int channel, const struct seam_born *born, int pidfd)
{
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_BORN, 0);
    if (seam_send(channel, &writer, born, &pidfd, born->error == 0) != 0)
        _exit(1);
    seam_writer_done(&writer);
}

/* In the child: its channel takes the place of the zygote's, which it must not keep.  The order's
 * few bytes are left where they are: to free them would be to copy a page. */
static int settle_child(int channel, struct seam_message *order)
{
    if (dup3(order->descriptors[0], channel, O_CLOEXEC) < 0)
        return -errno;
    for (size_t i = 0; i < order->n_descriptors; i++)
        close_fd(&order->descriptors[i]);
    return 0;
}

/* True in the child. */
static bool bear(int channel, struct seam_message *order)
{
    const struct seam_bear *wanted = order->fixed;
    int cgroup = order->n_descriptors > 1 ? order->descriptors[1] : -EBADF;
    auto_close int pidfd = -EBADF;
    struct seam_born born = {0};
    pid_t pid;
    int r = namespace_fork_sibling(wanted->namespaces, cgroup, &pid, &pidfd);

    if (r == 0 && pid == 0)
        return true;
    born.error = -r;
    born.pid = r == 0 ? pid : 0;
    tell(channel, &born, pidfd);
    return false;
}

int zygote_run(int channel, uint64_t *ret_value)
{
    struct seam_message order;

    for (;;) {
        if (seam_receive(channel, &order) != 0)
            _exit(0);
        if (order.header.type != SEAM_BEAR || order.n_descriptors == 0)
            _exit(1);
        if (bear(channel, &order)) {
            *ret_value = ((const struct seam_bear *)order.fixed)->value;
            return settle_child(channel, &order);
        }
        seam_message_done(&order);
    }
}
