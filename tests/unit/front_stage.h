/* front_stage.h - a session in a thread, and the test as its client and its warden. */
#pragma once

#include "decode.h"
#include "frame.h"
#include "kept.h"
#include "saphan.pb-c.h"
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cmocka.h>

#define UNUSED __attribute__((unused)) /* not every test plays every part */

#define HOUR (UINT64_C(3600) * 1000000)
#define PATIENCE_MS 20000 /* a test that waits longer has failed */

static const struct session_bounds patient = {HOUR, HOUR, HOUR, 1000, 1000};

struct stage {
    int warden; /* the other end of the channel */
    int channel, client_end;
    int client; /* the other end of the connection */
    const struct session_bounds *bounds;
    pthread_t thread;
    int result;
};

static UNUSED void *run_session(void *at)
{
    struct stage *stage = at;

    stage->result = session_run_take(stage->channel, stage->client_end, stage->bounds);
    close(stage->channel);
    return NULL;
}

static UNUSED void start(struct stage *stage, const struct session_bounds *bounds)
{
    int seam[2], stream[2];

    assert_int_equal(seam_channel_pair(seam), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream), 0);
    *stage = (struct stage){.warden = seam[0],
        .channel = seam[1],
        .client = stream[0],
        .client_end = stream[1],
        .bounds = bounds};
    assert_int_equal(pthread_create(&stage->thread, NULL, run_session, stage), 0);
}

/* Waits for the session's end and says its result. */
static UNUSED int finish(struct stage *stage)
{
    close_fd(&stage->client);
    assert_int_equal(pthread_join(stage->thread, NULL), 0);
    close_fd(&stage->warden);
    return stage->result;
}

static UNUSED void await_readable(int fd)
{
    struct pollfd polled = {fd, POLLIN, 0};

    assert_int_equal(poll(&polled, 1, PATIENCE_MS), 1);
}

/* ---- the warden's side ---- */

static UNUSED void expect(struct stage *stage, uint16_t type, struct seam_message *ret)
{
    await_readable(stage->warden);
    assert_int_equal(seam_receive(stage->warden, ret), 0);
    assert_int_equal(ret->header.type, type);
}

static UNUSED uint64_t expect_only(struct stage *stage, uint16_t type)
{
    struct seam_message message;
    uint64_t request;

    expect(stage, type, &message);
    request = message.header.request;
    seam_message_done(&message);
    return request;
}

static UNUSED void tell_with(struct stage *stage, uint16_t type, uint64_t request,
    const void *fixed, const int *descriptors, size_t n)
{
    struct seam_writer writer;

    seam_writer_init(&writer, type, request);
    assert_int_equal(seam_send(stage->warden, &writer, fixed, descriptors, n), 0);
    seam_writer_done(&writer);
}

static UNUSED void tell(struct stage *stage, uint16_t type, uint64_t request, const void *fixed)
{
    tell_with(stage, type, request, fixed, NULL, 0);
}

static const struct seam_end no_value;

/* ---- the client's side ---- */

static UNUSED void send_bytes(struct stage *stage, const void *bytes, size_t size)
{
    assert_int_equal(send(stage->client, bytes, size, MSG_NOSIGNAL), size);
}

/* SIZE bytes with N times descriptor 0's duplicate beside them. */
static UNUSED ssize_t send_with(struct stage *stage, const void *bytes, size_t size, size_t n)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * 250)];
        struct cmsghdr align;
    } control;
    struct iovec part = {(void *)(uintptr_t)bytes, size};
    struct msghdr message = {.msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = CMSG_SPACE(sizeof(int) * n)};
    struct cmsghdr *rights;

    memset(&control, 0, sizeof(control));
    rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int) * n);
    for (size_t i = 0; i < n; i++)
        memcpy(CMSG_DATA(rights) + i * sizeof(int), &stage->client, sizeof(int));
    return sendmsg(stage->client, &message, MSG_NOSIGNAL);
}

static UNUSED size_t pack(const Saphan__V1__ClientFrame *frame, uint8_t *out)
{
    size_t size = saphan__v1__client_frame__pack(frame, out + FRAME_HEADER);

    frame_put_length(out, (uint32_t)size);
    return FRAME_HEADER + size;
}

static UNUSED size_t pack_list(uint64_t request, uint8_t *out)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__ListLegs list = SAPHAN__V1__LIST_LEGS__INIT;

    frame.protocol = 1;
    frame.request = request;
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_LIST_LEGS;
    frame.list_legs = &list;
    return pack(&frame, out);
}

static UNUSED void ask_list(struct stage *stage, uint64_t request)
{
    uint8_t bytes[64];

    send_bytes(stage, bytes, pack_list(request, bytes));
}

static UNUSED size_t pack_run(bool detach, bool events, uint8_t *out)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__Run run = SAPHAN__V1__RUN__INIT;
    Saphan__V1__Stream stream = SAPHAN__V1__STREAM__INIT;
    ProtobufCBinaryData argv = {2, (uint8_t *)(uintptr_t) "sh"};

    frame.protocol = 1;
    frame.request = 11;
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_RUN;
    frame.run = &run;
    run.argv = &argv;
    run.n_argv = 1;
    run.detach = detach;
    stream.mode = SAPHAN__V1__STREAM_MODE__STREAM_EVENTS;
    if (events)
        run.standard_output = run.standard_error = &stream;
    return pack(&frame, out);
}

static UNUSED void ask_run(struct stage *stage, bool detach, bool events)
{
    uint8_t bytes[128];

    send_bytes(stage, bytes, pack_run(detach, events, bytes));
}

static UNUSED void ask_logs(struct stage *stage, bool follow)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__LegLogs logs = SAPHAN__V1__LEG_LOGS__INIT;
    uint8_t bytes[64];

    frame.protocol = 1;
    frame.request = 12;
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_LEG_LOGS;
    frame.leg_logs = &logs;
    logs.leg = 5;
    logs.follow = follow;
    send_bytes(stage, bytes, pack(&frame, bytes));
}

static UNUSED Saphan__V1__ServerFrame *take(struct stage *stage)
{
    static uint8_t bytes[FRAME_MAX];
    uint8_t header[FRAME_HEADER];
    Saphan__V1__ServerFrame *frame;
    uint32_t length;

    await_readable(stage->client);
    assert_int_equal(recv(stage->client, header, sizeof(header), MSG_WAITALL), sizeof(header));
    length = frame_get_length(header);
    assert_true(length <= FRAME_MAX);
    assert_int_equal(recv(stage->client, bytes, length, MSG_WAITALL), length);
    frame = saphan__v1__server_frame__unpack(NULL, length, bytes);
    assert_non_null(frame);
    return frame;
}

#define drop(frame) saphan__v1__server_frame__free_unpacked(frame, NULL)

static UNUSED void take_only(struct stage *stage, unsigned int body, uint64_t request)
{
    Saphan__V1__ServerFrame *frame = take(stage);

    assert_int_equal(frame->body_case, body);
    assert_int_equal(frame->request, request);
    drop(frame);
}

static UNUSED void take_refusal(struct stage *stage, const char *slug, const char *detail)
{
    Saphan__V1__ServerFrame *frame = take(stage);
    Saphan__V1__Reason *reason;

    assert_int_equal(frame->body_case, SAPHAN__V1__SERVER_FRAME__BODY_REFUSED);
    reason = frame->refused->reasons[0];
    assert_string_equal(reason->slug, slug);
    assert_int_equal(reason->detail.len, strlen(detail));
    assert_memory_equal(reason->detail.data, detail, strlen(detail));
    drop(frame);
}

/* The connection ends, with or without the reset that unread bytes bring. */
static UNUSED void take_end(struct stage *stage)
{
    char byte;
    ssize_t n;

    await_readable(stage->client);
    n = recv(stage->client, &byte, 1, 0);
    assert_true(n == 0 || (n < 0 && errno == ECONNRESET));
}

static UNUSED uint64_t accept_run(struct stage *stage, int ret_writers[2])
{
    struct seam_accepted accepted = {.leg = 77, .stream_events = {0, 1, 1}};
    uint64_t request = expect_only(stage, SEAM_ASK_RUN);
    int readers[2];

    for (size_t i = 0; i < 2; i++) {
        int ends[2];

        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        readers[i] = ends[0];
        ret_writers[i] = ends[1];
    }
    tell_with(stage, SEAM_ACCEPTED, request, &accepted, readers, 2);
    close(readers[0]);
    close(readers[1]);
    take_only(stage, SAPHAN__V1__SERVER_FRAME__BODY_ACCEPTED, 11);
    return request;
}

static UNUSED void take_output(
    struct stage *stage, uint32_t stream, const char *text, uint64_t lost)
{
    Saphan__V1__ServerFrame *frame = take(stage);

    assert_int_equal(frame->body_case, SAPHAN__V1__SERVER_FRAME__BODY_OUTPUT);
    assert_int_equal(frame->output->stream, stream);
    assert_int_equal(frame->output->lost, lost);
    assert_int_equal(frame->output->data.len, strlen(text));
    assert_memory_equal(frame->output->data.data, text, strlen(text));
    drop(frame);
}

static const struct seam_verdict green = {.leg = 77, .colour = COLOUR_GREEN};
