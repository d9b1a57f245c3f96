#include "audit.h"

#include "clock.h"
#include "own.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define ANSWER_MS 1000
#define TYPES_MAX 8

static int audit_socket(unsigned int groups)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    auto_close int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        return -errno;
    return steal_fd(&fd);
}

/* ---- receiving ---- */

/* Audit records do not fill the length of their header as other families do: the packet's own size
 * is the one that counts. */
ssize_t audit_receive(int fd, uint16_t *ret_type, char payload[AUDIT_RECORD_MAX])
{
    struct nlmsghdr header;
    struct sockaddr_nl from = {0};
    struct iovec parts[] = {{&header, sizeof(header)}, {payload, AUDIT_RECORD_MAX - 1}};
    struct msghdr message = {
        .msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = parts, .msg_iovlen = 2};
    ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT);

    if (n < 0)
        return -errno;
    if (n < (ssize_t)sizeof(header) || message.msg_flags & MSG_TRUNC || from.nl_pid != 0)
        return -EBADMSG;
    n -= (ssize_t)sizeof(header);
    payload[n] = '\0';
    *ret_type = header.nlmsg_type;
    return n;
}

static ssize_t receive_by(
    int fd, uint64_t deadline, uint16_t *ret_type, char payload[AUDIT_RECORD_MAX])
{
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    uint64_t now = clock_monotonic_us();

    if (now >= deadline || poll(&waiting, 1, (int)((deadline - now + 999) / 1000)) == 0)
        return -ETIME;
    return audit_receive(fd, ret_type, payload);
}

/* ---- asking ---- */

static int ask(int fd, uint16_t type, uint16_t flags, const void *payload, size_t size)
{
    struct nlmsghdr header = {.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + size),
        .nlmsg_type = type,
        .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags),
        .nlmsg_seq = 1};
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    struct iovec parts[] = {{&header, sizeof(header)}, {(void *)(uintptr_t)payload, size}};
    struct msghdr message = {.msg_name = &kernel,
        .msg_namelen = sizeof(kernel),
        .msg_iov = parts,
        .msg_iovlen = size ? 2 : 1};

    return sendmsg(fd, &message, 0) < 0 ? -errno : 0;
}

static int error_of(const char *payload, ssize_t size)
{
    int error;

    if (size < (ssize_t)sizeof(error))
        return -EBADMSG;
    memcpy(&error, payload, sizeof(error));
    return error;
}

static uint32_t word_at(const char *payload, size_t offset)
{
    uint32_t word;

    memcpy(&word, payload + offset, sizeof(word));
    return word;
}

int audit_read(struct audit_state *ret)
{
    auto_close int fd = audit_socket(0);
    uint64_t deadline = clock_monotonic_us() + ANSWER_MS * 1000;
    char payload[AUDIT_RECORD_MAX];
    uint16_t type = 0;
    ssize_t n;
    int r;

    if (fd < 0)
        return fd;
    r = ask(fd, AUDIT_GET, 0, NULL, 0);
    if (r < 0)
        return r;
    n = receive_by(fd, deadline, &type, payload);
    if (n < 0)
        return (int)n;
    if (type == NLMSG_ERROR) {
        r = error_of(payload, n);
        return r < 0 ? r : -EBADMSG;
    }
    if (type != AUDIT_GET || (size_t)n < offsetof(struct audit_status, backlog) + sizeof(uint32_t))
        return -EBADMSG;
    ret->enabled = word_at(payload, offsetof(struct audit_status, enabled));
    ret->backlog_limit = word_at(payload, offsetof(struct audit_status, backlog_limit));
    ret->lost = word_at(payload, offsetof(struct audit_status, lost));
    ret->backlog = word_at(payload, offsetof(struct audit_status, backlog));
    return 0;
}

int audit_enabled(void)
{
    struct audit_state state;
    int r = audit_read(&state);

    return r < 0 ? r : state.enabled != 0;
}

static int set(const struct audit_status *status)
{
    auto_close int fd = audit_socket(0);
    uint64_t deadline = clock_monotonic_us() + ANSWER_MS * 1000;
    char payload[AUDIT_RECORD_MAX];
    uint16_t type = 0;
    ssize_t n;
    int r;

    if (fd < 0)
        return fd;
    r = ask(fd, AUDIT_SET, NLM_F_ACK, status, sizeof(*status));
    if (r < 0)
        return r;
    n = receive_by(fd, deadline, &type, payload);
    if (n < 0)
        return (int)n;
    return type == NLMSG_ERROR ? error_of(payload, n) : -EBADMSG;
}

int audit_enable(bool on)
{
    return set(&(struct audit_status){.mask = AUDIT_STATUS_ENABLED, .enabled = on});
}

int audit_set_backlog_limit(uint32_t records)
{
    return set(
        &(struct audit_status){.mask = AUDIT_STATUS_BACKLOG_LIMIT, .backlog_limit = records});
}

/* ---- listening ---- */

int audit_listen(void)
{
    return audit_socket(1U << (AUDIT_NLGRP_READLOG - 1));
}

int audit_listen_only(int fd, const uint16_t *types, size_t n_types)
{
    struct sock_filter code[TYPES_MAX + 3];
    struct sock_fprog program = {.filter = code};
    const int on = 1;

    if (n_types == 0 || n_types > TYPES_MAX)
        return -EINVAL;
    /* A load of two bytes reads them in network order; the kernel wrote them in its own. */
    code[0] = (struct sock_filter)BPF_STMT(
        BPF_LD | BPF_H | BPF_ABS, offsetof(struct nlmsghdr, nlmsg_type));
    for (size_t i = 0; i < n_types; i++)
        code[1 + i] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, htons(types[i]), (uint8_t)(n_types - i), 0);
    code[1 + n_types] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
    code[2 + n_types] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
    program.len = (unsigned short)(n_types + 3);
    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &on, sizeof(on)) < 0)
        return -errno;
    return 0;
}

int audit_hear_denial(int listener, ino_t ino, uint64_t wait_ms)
{
    uint64_t deadline = clock_monotonic_us() + wait_ms * 1000;
    char payload[AUDIT_RECORD_MAX], wanted[32];

    (void)snprintf(wanted, sizeof(wanted), " ino=%lu", (unsigned long)ino);
    for (;;) {
        uint16_t type;
        ssize_t n = receive_by(listener, deadline, &type, payload);
        const char *at;

        if (n < 0)
            return (int)n;
        if (type != AUDIT_RECORD_LANDLOCK_ACCESS)
            continue;
        at = strstr(payload, wanted);
        if (at && (at[strlen(wanted)] == '\0' || at[strlen(wanted)] == ' '))
            return 0;
    }
}
