#include "audit.h"

#include "attempt.h"
#include "clock.h"
#include "own.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define LANDLOCK_ACCESS_RECORD 1423 /* AUDIT_LANDLOCK_ACCESS: newer than the headers */

static int audit_socket(unsigned int groups)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    auto_close int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        return -errno;
    return steal_fd(&fd);
}

/* The next record within the deadline. The bytes of its payload, terminated; or -errno. */
static ssize_t receive(int fd, uint64_t deadline, uint16_t *ret_type, char *payload, size_t size)
{
    union {
        char bytes[8192];
        struct nlmsghdr header;
    } message;
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    uint64_t now = clock_monotonic_us();
    ssize_t n;

    if (now >= deadline || poll(&waiting, 1, (int)((deadline - now + 999) / 1000)) == 0)
        return -ETIME;
    n = recv(fd, &message, sizeof(message), MSG_DONTWAIT);
    if (n < 0)
        return -errno;
    n -= (ssize_t)NLMSG_HDRLEN;
    if (n < 0)
        return -EBADMSG;
    if ((size_t)n >= size)
        n = (ssize_t)size - 1;
    memcpy(payload, message.bytes + NLMSG_HDRLEN, (size_t)n);
    payload[n] = '\0';
    *ret_type = message.header.nlmsg_type;
    return n;
}

int audit_enabled(void)
{
    struct nlmsghdr ask = {.nlmsg_len = NLMSG_HDRLEN,
        .nlmsg_type = AUDIT_GET,
        .nlmsg_flags = NLM_F_REQUEST,
        .nlmsg_seq = 1};
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    auto_close int fd = audit_socket(0);
    uint64_t deadline = clock_monotonic_us() + ATTEMPT_WAIT_MS * 1000;
    char payload[1024];
    uint16_t type = 0;
    uint32_t enabled;
    ssize_t n;

    if (fd < 0)
        return fd;
    if (sendto(fd, &ask, sizeof(ask), 0, (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
        return -errno;
    n = receive(fd, deadline, &type, payload, sizeof(payload));
    if (n < 0)
        return (int)n;
    if (type == NLMSG_ERROR && n >= (ssize_t)sizeof(int)) {
        int error;

        memcpy(&error, payload, sizeof(error));
        return error < 0 ? error : -EBADMSG;
    }
    if (type != AUDIT_GET || (size_t)n < offsetof(struct audit_status, failure))
        return -EBADMSG;
    memcpy(&enabled, payload + offsetof(struct audit_status, enabled), sizeof(enabled));
    return enabled != 0;
}

int audit_listen(void)
{
    return audit_socket(1U << (AUDIT_NLGRP_READLOG - 1));
}

int audit_hear_denial(int listener, ino_t ino)
{
    uint64_t deadline = clock_monotonic_us() + ATTEMPT_WAIT_MS * 1000;
    char payload[8192], wanted[32];

    (void)snprintf(wanted, sizeof(wanted), " ino=%lu", (unsigned long)ino);
    for (;;) {
        uint16_t type;
        ssize_t n = receive(listener, deadline, &type, payload, sizeof(payload));
        const char *at;

        if (n < 0)
            return (int)n;
        if (type != LANDLOCK_ACCESS_RECORD)
            continue;
        at = strstr(payload, wanted);
        if (at && (at[strlen(wanted)] == '\0' || at[strlen(wanted)] == ' '))
            return 0;
    }
}
