/* client_fake.h - a saphand that says what a test tells it to: frames in, frames out, one thread.
 */
#pragma once

#include "frame.h"
#include "own.h"
#include "saphan.pb-c.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#define FAKE_WAIT_MS 20000

struct fake_frame {
    Saphan__V1__ClientFrame *frame; /* NULL: the client hung up, or broke the protocol */
    int fds[FRAME_DESCRIPTORS_MAX];
    size_t n_fds;
};

static inline bool fake_wait(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, FAKE_WAIT_MS) > 0;
}

static inline void fake_free(struct fake_frame *got)
{
    if (got->frame)
        saphan__v1__client_frame__free_unpacked(got->frame, NULL);
    for (size_t i = 0; i < got->n_fds; i++)
        close(got->fds[i]);
    *got = (struct fake_frame){0};
}

/* Reads one frame and what comes beside it. */
static inline void fake_read(int fd, struct fake_frame *ret)
{
    static uint8_t bytes[FRAME_HEADER + FRAME_MAX];
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(FRAME_DESCRIPTORS_MAX * sizeof(int))];
    } control;
    struct iovec iov = {.iov_base = bytes, .iov_len = FRAME_HEADER};
    struct msghdr message = {.msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof(control)};
    size_t length, done = 0;

    *ret = (struct fake_frame){0};
    if (!fake_wait(fd) || recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL) != FRAME_HEADER)
        return;
    for (struct cmsghdr *at = CMSG_FIRSTHDR(&message); at; at = CMSG_NXTHDR(&message, at)) {
        ret->n_fds = (at->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(ret->fds, CMSG_DATA(at), ret->n_fds * sizeof(int));
    }
    length = frame_get_length(bytes);
    while (length <= FRAME_MAX && done < length) {
        ssize_t n = fake_wait(fd) ? recv(fd, bytes + FRAME_HEADER + done, length - done, 0) : -1;

        if (n <= 0)
            return;
        done += (size_t)n;
    }
    ret->frame = saphan__v1__client_frame__unpack(NULL, length, bytes + FRAME_HEADER);
}

static inline bool fake_bytes(int fd, const void *bytes, size_t size)
{
    return send(fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static inline bool fake_send(int fd, Saphan__V1__ServerFrame *frame)
{
    static uint8_t bytes[FRAME_HEADER + FRAME_MAX];
    size_t size = saphan__v1__server_frame__get_packed_size(frame);

    frame_put_length(bytes, (uint32_t)size);
    (void)saphan__v1__server_frame__pack(frame, bytes + FRAME_HEADER);
    return fake_bytes(fd, bytes, FRAME_HEADER + size);
}

#define FAKE_BYTES(text) ((ProtobufCBinaryData){strlen(text), (uint8_t *)(uintptr_t)(text)})

/* fake_say(fd, request, ACCEPTED, accepted, &body) */
#define fake_say(fd, number, CASE, field, body)                                                    \
    (__extension__({                                                                               \
        Saphan__V1__ServerFrame frame_ = SAPHAN__V1__SERVER_FRAME__INIT;                           \
        frame_.protocol = FRAME_PROTOCOL;                                                          \
        frame_.request = (number);                                                                 \
        frame_.body_case = SAPHAN__V1__SERVER_FRAME__BODY_##CASE;                                  \
        frame_.field = (body);                                                                     \
        fake_send((fd), &frame_);                                                                  \
    }))

static inline bool fake_accept(int fd, uint64_t request, uint64_t leg)
{
    Saphan__V1__Accepted body = SAPHAN__V1__ACCEPTED__INIT;

    body.leg = leg;
    return fake_say(fd, request, ACCEPTED, accepted, &body);
}

static inline bool fake_tell(
    int fd, uint64_t request, uint64_t leg, const char *kind, const char *detail, int64_t a)
{
    Saphan__V1__Event body = SAPHAN__V1__EVENT__INIT;

    body.leg = leg;
    body.at_ms = 1000;
    body.kind = (char *)(uintptr_t)kind;
    body.subject = FAKE_BYTES("/s");
    body.detail = FAKE_BYTES(detail);
    body.a = a;
    return fake_say(fd, request, EVENT, event, &body);
}

static inline bool fake_output(
    int fd, uint64_t request, uint32_t stream, const void *bytes, size_t size)
{
    Saphan__V1__Output body = SAPHAN__V1__OUTPUT__INIT;

    body.stream = stream;
    body.data = (ProtobufCBinaryData){size, (uint8_t *)(uintptr_t)bytes};
    return fake_say(fd, request, OUTPUT, output, &body);
}

/* SLUG NULL: no reason. */
static inline bool fake_verdict(int fd, uint64_t request, uint64_t leg, Saphan__V1__Colour colour,
    int client_status, int wait_status, const char *slug)
{
    Saphan__V1__Verdict body = SAPHAN__V1__VERDICT__INIT;
    Saphan__V1__Reason reason = SAPHAN__V1__REASON__INIT, *reasons[] = {&reason};
    Saphan__V1__Claim claim = SAPHAN__V1__CLAIM__INIT, *claims[] = {&claim};
    static char userns[] = "userns";
    char *rungs[] = {userns};

    claim.slug = (char *)(uintptr_t) "stranger";
    claim.meaning = (char *)(uintptr_t) "it is no one";
    claim.rungs = rungs;
    claim.n_rungs = 1;
    body.leg = leg;
    body.colour = colour;
    body.client_status = client_status;
    body.exited = true;
    body.wait_status = (uint32_t)wait_status;
    body.wall_us = 1234567;
    body.claims = claims;
    body.n_claims = 1;
    if (slug) {
        reason.slug = (char *)(uintptr_t)slug;
        reason.meaning = (char *)(uintptr_t) "it means this";
        reason.remedy = (char *)(uintptr_t) "do that";
        reason.detail = FAKE_BYTES("out\033[2J");
        body.reasons = reasons;
        body.n_reasons = 1;
    }
    return fake_say(fd, request, VERDICT, verdict, &body);
}

static inline bool fake_refuse(int fd, uint64_t request, const char *slug, uint32_t client_status)
{
    Saphan__V1__Refused body = SAPHAN__V1__REFUSED__INIT;
    Saphan__V1__Reason reason = SAPHAN__V1__REASON__INIT, *reasons[] = {&reason};

    reason.slug = (char *)(uintptr_t)slug;
    reason.meaning = (char *)(uintptr_t) "it means this";
    reason.remedy = (char *)(uintptr_t) "do that";
    body.reasons = reasons;
    body.n_reasons = 1;
    body.client_status = client_status;
    return fake_say(fd, request, REFUSED, refused, &body);
}

static inline bool fake_end(int fd, uint64_t request)
{
    Saphan__V1__End body = SAPHAN__V1__END__INIT;

    return fake_say(fd, request, END, end, &body);
}
