#include "doorway.h"

#include "own.h"
#include "steps.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define BACKLOG 1024

static int listen_on(uint16_t port, int *ret)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);

    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
        listen(fd, BACKLOG) < 0)
        return -errno;
    *ret = steal_fd(&fd);
    return 0;
}

/* A port below 1024 needs no privilege that we do not have: the namespace is the leg's own. */
int doorway_open(const struct plan *plan, int ret_sockets[], struct fault *ret_fault)
{
    for (uint32_t i = 0; i < plan->n_ports; i++) {
        int r = listen_on(plan->ports[i], &ret_sockets[i]);

        if (r < 0) {
            (void)fault_set(ret_fault, STEP_DOOR, -r, "the leg's port %u", plan->ports[i]);
            while (i-- > 0)
                close_fd(&ret_sockets[i]);
            return r;
        }
    }
    return 0;
}
