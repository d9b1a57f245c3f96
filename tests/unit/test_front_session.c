/* A connection's life: the session runs in a thread, this test is its client and its warden. */
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

#define HOUR (UINT64_C(3600) * 1000000)
#define PATIENCE_MS 20000 /* a test that waits longer has failed */

static const struct session_bounds patient = {HOUR, HOUR, HOUR, 1000};

struct stage {
    int warden; /* the other end of the channel */
    int channel, client_end;
    int client; /* the other end of the connection */
    const struct session_bounds *bounds;
    pthread_t thread;
    int result;
};

static void *run_session(void *at)
{
    struct stage *stage = at;

    stage->result = session_run_take(stage->channel, stage->client_end, stage->bounds);
    close(stage->channel);
    return NULL;
}

static void start(struct stage *stage, const struct session_bounds *bounds)
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
static int finish(struct stage *stage)
{
    close_fd(&stage->client);
    assert_int_equal(pthread_join(stage->thread, NULL), 0);
    close_fd(&stage->warden);
    return stage->result;
}

static void await_readable(int fd)
{
    struct pollfd polled = {fd, POLLIN, 0};

    assert_int_equal(poll(&polled, 1, PATIENCE_MS), 1);
}

/* ---- the warden's side ---- */

static void expect(struct stage *stage, uint16_t type, struct seam_message *ret)
{
    await_readable(stage->warden);
    assert_int_equal(seam_receive(stage->warden, ret), 0);
    assert_int_equal(ret->header.type, type);
}

static uint64_t expect_only(struct stage *stage, uint16_t type)
{
    struct seam_message message;
    uint64_t request;

    expect(stage, type, &message);
    request = message.header.request;
    seam_message_done(&message);
    return request;
}

static void tell_with(struct stage *stage, uint16_t type, uint64_t request, const void *fixed,
    const int *descriptors, size_t n)
{
    struct seam_writer writer;

    seam_writer_init(&writer, type, request);
    assert_int_equal(seam_send(stage->warden, &writer, fixed, descriptors, n), 0);
    seam_writer_done(&writer);
}

static void tell(struct stage *stage, uint16_t type, uint64_t request, const void *fixed)
{
    tell_with(stage, type, request, fixed, NULL, 0);
}

static const struct seam_end no_value;

/* ---- the client's side ---- */

static void send_bytes(struct stage *stage, const void *bytes, size_t size)
{
    assert_int_equal(send(stage->client, bytes, size, MSG_NOSIGNAL), size);
}

/* SIZE bytes with N times descriptor 0's duplicate beside them. */
static ssize_t send_with(struct stage *stage, const void *bytes, size_t size, size_t n)
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

static size_t pack(const Saphan__V1__ClientFrame *frame, uint8_t *out)
{
    size_t size = saphan__v1__client_frame__pack(frame, out + FRAME_HEADER);

    frame_put_length(out, (uint32_t)size);
    return FRAME_HEADER + size;
}

static size_t pack_list(uint64_t request, uint8_t *out)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__ListLegs list = SAPHAN__V1__LIST_LEGS__INIT;

    frame.protocol = 1;
    frame.request = request;
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_LIST_LEGS;
    frame.list_legs = &list;
    return pack(&frame, out);
}

static void ask_list(struct stage *stage, uint64_t request)
{
    uint8_t bytes[64];

    send_bytes(stage, bytes, pack_list(request, bytes));
}

static size_t pack_run(bool detach, bool events, uint8_t *out)
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

static void ask_run(struct stage *stage, bool detach, bool events)
{
    uint8_t bytes[128];

    send_bytes(stage, bytes, pack_run(detach, events, bytes));
}

static void ask_logs(struct stage *stage, bool follow)
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

static Saphan__V1__ServerFrame *take(struct stage *stage)
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

static void take_only(struct stage *stage, unsigned int body, uint64_t request)
{
    Saphan__V1__ServerFrame *frame = take(stage);

    assert_int_equal(frame->body_case, body);
    assert_int_equal(frame->request, request);
    drop(frame);
}

static void take_refusal(struct stage *stage, const char *slug, const char *detail)
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
static void take_end(struct stage *stage)
{
    char byte;
    ssize_t n;

    await_readable(stage->client);
    n = recv(stage->client, &byte, 1, 0);
    assert_true(n == 0 || (n < 0 && errno == ECONNRESET));
}

/* ---- requests one after another ---- */

static void test_requests_follow_one_another(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, &patient);
    for (uint64_t i = 1; i <= 3; i++) {
        uint64_t request;

        ask_list(&stage, 100 + i);
        request = expect_only(&stage, SEAM_ASK_LEGS);
        tell(&stage, SEAM_END, request, &no_value);
        take_only(&stage, SAPHAN__V1__SERVER_FRAME__BODY_END, 100 + i);
    }
    close_fd(&stage.client);
    (void)expect_only(&stage, SEAM_CLIENT_GONE);
    assert_int_equal(finish(&stage), 0);
}

static void test_what_is_sent_ahead_waits(void **state)
{
    uint8_t bytes[128];
    size_t size = pack_list(1, bytes);
    struct pollfd polled;
    struct stage stage;
    uint64_t request;

    (void)state;
    size += pack_list(2, bytes + size);
    start(&stage, &patient);
    send_bytes(&stage, bytes, size);
    request = expect_only(&stage, SEAM_ASK_LEGS);
    polled = (struct pollfd){stage.warden, POLLIN, 0};
    assert_int_equal(poll(&polled, 1, 20), 0);
    tell(&stage, SEAM_END, request, &no_value);
    assert_int_not_equal(expect_only(&stage, SEAM_ASK_LEGS), request);
    assert_int_equal(finish(&stage), 0);
}

static void test_a_refused_frame_leaves_the_connection_usable(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, &patient);
    send_bytes(&stage, "\x02\0\0\0\x08\x01", 6);
    take_refusal(&stage, "request-malformed", "body: absent");
    ask_list(&stage, 2);
    (void)expect_only(&stage, SEAM_ASK_LEGS);
    assert_int_equal(finish(&stage), 0);
}

/* ---- frames that are none ---- */

static void test_a_length_of_zero_closes(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, &patient);
    send_bytes(&stage, "\0\0\0\0", 4);
    take_refusal(&stage, "request-malformed", "frame: a length of 0");
    take_end(&stage);
    (void)expect_only(&stage, SEAM_CLIENT_GONE);
    assert_int_equal(finish(&stage), 0);
}

static void test_an_oversized_frame_closes(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, &patient);
    send_bytes(&stage, "\x01\0\x02\0abc", 7);
    take_refusal(&stage, "request-too-big", "frame: longer than a frame may be (131072 bytes)");
    take_end(&stage);
    assert_int_equal(finish(&stage), 0);
}

static void test_a_truncated_frame_is_nothing(void **state)
{
    struct stage stage;
    uint8_t bytes[64];
    size_t size = pack_list(1, bytes);

    (void)state;
    start(&stage, &patient);
    send_bytes(&stage, bytes, size - 1);
    close_fd(&stage.client);
    (void)expect_only(&stage, SEAM_CLIENT_GONE);
    assert_int_equal(finish(&stage), 0);
}

static void test_a_frame_byte_by_byte_is_a_frame(void **state)
{
    struct stage stage;
    uint8_t bytes[64];
    size_t size = pack_list(1, bytes);

    (void)state;
    start(&stage, &patient);
    for (size_t i = 0; i < size; i++)
        send_bytes(&stage, bytes + i, 1);
    (void)expect_only(&stage, SEAM_ASK_LEGS);
    assert_int_equal(finish(&stage), 0);
}

static void test_descriptors_pass_through(void **state)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__Run run = SAPHAN__V1__RUN__INIT;
    Saphan__V1__Stream stream = SAPHAN__V1__STREAM__INIT;
    ProtobufCBinaryData argv = {2, (uint8_t *)(uintptr_t) "sh"};
    struct seam_message message;
    struct stage stage;
    uint8_t bytes[128];

    (void)state;
    frame.protocol = 1;
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_RUN;
    frame.run = &run;
    run.argv = &argv;
    run.n_argv = 1;
    stream.mode = SAPHAN__V1__STREAM_MODE__STREAM_DESCRIPTOR;
    stream.descriptor = 1;
    run.standard_output = run.standard_error = &stream;
    start(&stage, &patient);
    (void)send_with(&stage, bytes, pack(&frame, bytes), 1);
    expect(&stage, SEAM_ASK_RUN, &message);
    assert_int_equal(message.n_descriptors, 1);
    assert_int_equal(((const struct seam_run *)message.fixed)->streams[2].descriptor, 0);
    seam_message_done(&message);
    assert_int_equal(finish(&stage), 0);
}

static void test_too_many_descriptors_close(void **state)
{
    struct stage stage;
    uint8_t bytes[64];
    size_t size = pack_list(1, bytes);

    (void)state;
    start(&stage, &patient);
    (void)send_with(&stage, bytes, size, FRAME_DESCRIPTORS_MAX + 1);
    take_refusal(&stage, "request-malformed", "frame: more descriptors than a frame may have (60)");
    take_end(&stage);
    assert_int_equal(finish(&stage), 0);
}

static void test_descriptors_in_the_middle_close(void **state)
{
    struct stage stage;
    uint8_t bytes[64];
    size_t size = pack_list(1, bytes);

    (void)state;
    start(&stage, &patient);
    send_bytes(&stage, bytes, 5);
    (void)send_with(&stage, bytes + 5, size - 5, 1);
    take_refusal(
        &stage, "request-malformed", "frame: descriptors that do not stand beside its first byte");
    take_end(&stage);
    assert_int_equal(finish(&stage), 0);
}

/* ---- time ---- */

static void test_a_slow_frame_closes(void **state)
{
    const struct session_bounds bounds = {20000, HOUR, HOUR, 1000};
    struct stage stage;
    uint8_t bytes[64];

    (void)state;
    (void)pack_list(1, bytes);
    start(&stage, &bounds);
    send_bytes(&stage, bytes, 3);
    take_refusal(&stage, "request-malformed", "frame: not complete within its time");
    take_end(&stage);
    assert_int_equal(finish(&stage), 0);
}

static void test_an_idle_connection_closes(void **state)
{
    const struct session_bounds bounds = {HOUR, 20000, HOUR, 1000};
    struct stage stage;

    (void)state;
    start(&stage, &bounds);
    take_end(&stage);
    (void)expect_only(&stage, SEAM_CLIENT_GONE);
    assert_int_equal(finish(&stage), 0);
}

static void test_a_waiting_connection_is_not_idle(void **state)
{
    const struct session_bounds bounds = {HOUR, 200000, HOUR, 1000};
    struct pollfd polled;
    struct stage stage;
    uint64_t request;

    (void)state;
    start(&stage, &bounds);
    ask_list(&stage, 1);
    request = expect_only(&stage, SEAM_ASK_LEGS);
    polled = (struct pollfd){stage.warden, POLLIN, 0};
    assert_int_equal(poll(&polled, 1, 400), 0);
    tell(&stage, SEAM_END, request, &no_value);
    take_only(&stage, SAPHAN__V1__SERVER_FRAME__BODY_END, 1);
    assert_int_equal(finish(&stage), 0);
}

/* ---- a leg's output ---- */

static uint64_t accept_run(struct stage *stage, int ret_writers[2])
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

static void take_output(struct stage *stage, uint32_t stream, const char *text, uint64_t lost)
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

static void test_output_comes_before_the_verdict(void **state)
{
    struct stage stage;
    uint64_t request;
    int writers[2];

    (void)state;
    start(&stage, &patient);
    ask_run(&stage, false, true);
    request = accept_run(&stage, writers);
    assert_int_equal(write(writers[0], "out", 3), 3);
    take_output(&stage, 1, "out", 0);
    assert_int_equal(write(writers[1], "err", 3), 3);
    tell(&stage, SEAM_VERDICT, request, &green);
    take_output(&stage, 2, "err", 0);
    /* The writers are still open: somebody has them, but the leg is gone. */
    take_only(&stage, SAPHAN__V1__SERVER_FRAME__BODY_VERDICT, 11);
    close(writers[0]);
    close(writers[1]);
    assert_int_equal(finish(&stage), 0);
}

/* What a client does not read stays in the leg's pipe: the writer blocks, and nothing grows. */
static void test_a_client_that_does_not_read_holds_up_its_leg(void **state)
{
    static char piece[4096];
    struct stage stage;
    uint64_t request;
    size_t written = 0, read_back = 0;
    int writers[2];

    (void)state;
    start(&stage, &patient);
    ask_run(&stage, false, true);
    request = accept_run(&stage, writers);
    assert_int_equal(fcntl(writers[0], F_SETFL, O_NONBLOCK), 0);
    for (;;) {
        struct pollfd polled = {writers[0], POLLOUT, 0};
        ssize_t n;

        if (poll(&polled, 1, 300) == 0)
            break;
        n = write(writers[0], piece, sizeof(piece));
        if (n > 0)
            written += (size_t)n;
        assert_true(written < (size_t)4 * 1024 * 1024);
    }
    close(writers[0]);
    close(writers[1]);
    tell(&stage, SEAM_VERDICT, request, &green);
    for (;;) {
        Saphan__V1__ServerFrame *frame = take(&stage);
        bool last = frame->body_case == SAPHAN__V1__SERVER_FRAME__BODY_VERDICT;

        if (!last)
            read_back += frame->output->data.len;
        drop(frame);
        if (last)
            break;
    }
    assert_int_equal(read_back, written);
    assert_int_equal(finish(&stage), 0);
}

static void test_a_stalled_client_is_closed(void **state)
{
    const struct session_bounds bounds = {HOUR, HOUR, 30000, 1000};
    static char piece[65536];
    struct stage stage;
    int writers[2];
    ssize_t n;

    (void)state;
    start(&stage, &bounds);
    ask_run(&stage, false, true);
    (void)accept_run(&stage, writers);
    do
        n = write(writers[0], piece, sizeof(piece)); /* until the reader is closed */
    while (n > 0);
    assert_int_equal(errno, EPIPE);
    (void)expect_only(&stage, SEAM_CLIENT_GONE);
    close(writers[0]);
    close(writers[1]);
    assert_int_equal(finish(&stage), 0);
}

/* ---- who is gone ---- */

static void gone_while_running(bool half)
{
    struct stage stage;
    struct seam_message message;
    int writers[2];

    start(&stage, &patient);
    ask_run(&stage, false, true);
    (void)accept_run(&stage, writers);
    if (half)
        assert_int_equal(shutdown(stage.client, SHUT_WR), 0);
    else
        close_fd(&stage.client);
    expect(&stage, SEAM_CLIENT_GONE, &message);
    seam_message_done(&message);
    assert_int_equal(finish(&stage), 0);
    assert_int_equal(write(writers[0], "x", 1), -1);
    close(writers[0]);
    close(writers[1]);
}

static void test_a_client_that_closes_is_gone(void **state)
{
    (void)state;
    gone_while_running(false);
}

static void test_a_client_that_closes_half_is_gone(void **state)
{
    (void)state;
    gone_while_running(true);
}

static void test_a_detached_run_ends_when_accepted(void **state)
{
    struct seam_accepted accepted = {.leg = 77};
    struct stage stage;
    uint64_t request;

    (void)state;
    start(&stage, &patient);
    ask_run(&stage, true, false);
    request = expect_only(&stage, SEAM_ASK_RUN);
    tell(&stage, SEAM_ACCEPTED, request, &accepted);
    take_only(&stage, SAPHAN__V1__SERVER_FRAME__BODY_ACCEPTED, 11);
    tell(&stage, SEAM_VERDICT, request, &green); /* crosses with the next request */
    ask_list(&stage, 3);
    request = expect_only(&stage, SEAM_ASK_LEGS);
    tell(&stage, SEAM_END, request, &no_value);
    take_only(&stage, SAPHAN__V1__SERVER_FRAME__BODY_END, 3);
    assert_int_equal(finish(&stage), 0);
}

static void test_a_lost_warden_ends_the_connection(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, &patient);
    ask_list(&stage, 3);
    (void)expect_only(&stage, SEAM_ASK_LEGS);
    close_fd(&stage.warden);
    take_end(&stage);
    assert_int_equal(finish(&stage), 0);
}

static void test_a_warden_out_of_turn_is_an_error(void **state)
{
    struct stage stage;
    uint64_t request;

    (void)state;
    start(&stage, &patient);
    ask_list(&stage, 3);
    request = expect_only(&stage, SEAM_ASK_LEGS);
    tell(&stage, SEAM_VERDICT, request, &green);
    take_end(&stage);
    assert_int_equal(finish(&stage), -EPROTO);
}

/* ---- kept output ---- */

static int kept_file(struct kept_writer *writer, uint64_t cap)
{
    int fd = memfd_create("kept", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(kept_start(writer, fd, cap), 0);
    return fd;
}

static void tell_log(struct stage *stage, uint64_t request, uint32_t stream, int fd)
{
    struct seam_log log = {.leg = 5, .stream = stream, .running = 1};

    tell_with(stage, SEAM_LOG, request, &log, &fd, 1);
}

static void test_kept_output_with_a_gap(void **state)
{
    struct kept_writer writer;
    struct stage stage;
    uint64_t request;
    int fd = kept_file(&writer, 8);

    (void)state;
    assert_int_equal(kept_append(&writer, "abcdefghijkl", 12), 0);
    start(&stage, &patient);
    ask_logs(&stage, false);
    request = expect_only(&stage, SEAM_ASK_LOGS);
    tell_log(&stage, request, 1, fd);
    tell(&stage, SEAM_END, request, &no_value);
    take_output(&stage, 1, "abcd", 0);
    take_output(&stage, 1, "ijkl", 4);
    take_only(&stage, SAPHAN__V1__SERVER_FRAME__BODY_END, 12);
    close(fd);
    assert_int_equal(finish(&stage), 0);
}

static void test_kept_output_is_followed(void **state)
{
    struct kept_writer writer;
    struct stage stage;
    uint64_t request;
    int fd = kept_file(&writer, 4096);

    (void)state;
    start(&stage, &patient);
    ask_logs(&stage, true);
    request = expect_only(&stage, SEAM_ASK_LOGS);
    tell_log(&stage, request, 2, fd);
    for (unsigned int i = 0; i < 3; i++) {
        assert_int_equal(kept_append(&writer, "more", 4), 0);
        take_output(&stage, 2, "more", 0);
    }
    assert_int_equal(kept_append(&writer, "last", 4), 0);
    tell(&stage, SEAM_END, request, &no_value);
    take_output(&stage, 2, "last", 0);
    take_only(&stage, SAPHAN__V1__SERVER_FRAME__BODY_END, 12);
    close(fd);
    assert_int_equal(finish(&stage), 0);
}

static void test_kept_output_that_is_none_is_refused(void **state)
{
    struct stage stage;
    uint64_t request;
    int fd = memfd_create("junk", MFD_CLOEXEC);

    (void)state;
    start(&stage, &patient);
    ask_logs(&stage, false);
    request = expect_only(&stage, SEAM_ASK_LOGS);
    tell_log(&stage, request, 1, fd);
    tell(&stage, SEAM_END, request, &no_value);
    take_refusal(&stage, "kept-broken", "standard output");
    ask_list(&stage, 2);
    (void)expect_only(&stage, SEAM_ASK_LEGS);
    close(fd);
    assert_int_equal(finish(&stage), 0);
}

/* ---- floods ---- */

static void test_a_flood_of_bad_frames_is_answered_or_ends(void **state)
{
    struct stage stage;
    size_t sent = 0;

    (void)state;
    start(&stage, &patient);
    for (;;) { /* never reading an answer: our own sends stop, or the session ends us */
        struct pollfd polled = {stage.client, POLLOUT, 0};
        ssize_t n;

        if (poll(&polled, 1, 300) == 0)
            break;
        n = send(stage.client, "\x02\0\0\0\x08\x01", 6, MSG_NOSIGNAL | MSG_DONTWAIT);
        assert_int_equal(n, 6);
        sent++;
        assert_true(sent < 1000000);
    }
    for (size_t i = 0; i < sent; i++)
        take_refusal(&stage, "request-malformed", "body: absent");
    ask_list(&stage, 2);
    (void)expect_only(&stage, SEAM_ASK_LEGS);
    assert_int_equal(finish(&stage), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_follow_one_another),
        cmocka_unit_test(test_what_is_sent_ahead_waits),
        cmocka_unit_test(test_a_refused_frame_leaves_the_connection_usable),
        cmocka_unit_test(test_a_length_of_zero_closes),
        cmocka_unit_test(test_an_oversized_frame_closes),
        cmocka_unit_test(test_a_truncated_frame_is_nothing),
        cmocka_unit_test(test_a_frame_byte_by_byte_is_a_frame),
        cmocka_unit_test(test_descriptors_pass_through),
        cmocka_unit_test(test_too_many_descriptors_close),
        cmocka_unit_test(test_descriptors_in_the_middle_close),
        cmocka_unit_test(test_a_slow_frame_closes),
        cmocka_unit_test(test_an_idle_connection_closes),
        cmocka_unit_test(test_a_waiting_connection_is_not_idle),
        cmocka_unit_test(test_output_comes_before_the_verdict),
        cmocka_unit_test(test_a_client_that_does_not_read_holds_up_its_leg),
        cmocka_unit_test(test_a_stalled_client_is_closed),
        cmocka_unit_test(test_a_client_that_closes_is_gone),
        cmocka_unit_test(test_a_client_that_closes_half_is_gone),
        cmocka_unit_test(test_a_detached_run_ends_when_accepted),
        cmocka_unit_test(test_a_lost_warden_ends_the_connection),
        cmocka_unit_test(test_a_warden_out_of_turn_is_an_error),
        cmocka_unit_test(test_kept_output_with_a_gap),
        cmocka_unit_test(test_kept_output_is_followed),
        cmocka_unit_test(test_kept_output_that_is_none_is_refused),
        cmocka_unit_test(test_a_flood_of_bad_frames_is_answered_or_ends),
    };

    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
