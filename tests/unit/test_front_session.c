/* A connection's life: requests, frames that are none, time, who is gone, floods. */
#include "front_stage.h"

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
    const struct session_bounds bounds = {20000, HOUR, HOUR, 1000, 1000};
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

/* A byte now and then does not help: the time runs from the first one. */
static void test_a_dribbled_frame_closes(void **state)
{
    const struct session_bounds bounds = {50000, HOUR, HOUR, 1000, 1000};
    struct pollfd polled;
    struct stage stage;

    (void)state;
    start(&stage, &bounds);
    send_bytes(&stage, "\0\0\1\0", 4); /* 65536 bytes are to come */
    polled = (struct pollfd){stage.client, POLLIN, 0};
    for (unsigned int i = 0; poll(&polled, 1, 5) == 0; i++) {
        assert_true(i < 10000);
        (void)send(stage.client, "x", 1, MSG_NOSIGNAL);
    }
    take_refusal(&stage, "request-malformed", "frame: not complete within its time");
    take_end(&stage);
    assert_int_equal(finish(&stage), 0);
}

static void test_an_idle_connection_closes(void **state)
{
    const struct session_bounds bounds = {HOUR, 20000, HOUR, 1000, 1000};
    struct stage stage;

    (void)state;
    start(&stage, &bounds);
    take_end(&stage);
    (void)expect_only(&stage, SEAM_CLIENT_GONE);
    assert_int_equal(finish(&stage), 0);
}

static void test_a_waiting_connection_is_not_idle(void **state)
{
    const struct session_bounds bounds = {HOUR, 200000, HOUR, 1000, 1000};
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
        cmocka_unit_test(test_a_dribbled_frame_closes),
        cmocka_unit_test(test_an_idle_connection_closes),
        cmocka_unit_test(test_a_waiting_connection_is_not_idle),
        cmocka_unit_test(test_a_client_that_closes_is_gone),
        cmocka_unit_test(test_a_client_that_closes_half_is_gone),
        cmocka_unit_test(test_a_detached_run_ends_when_accepted),
        cmocka_unit_test(test_a_lost_warden_ends_the_connection),
        cmocka_unit_test(test_a_warden_out_of_turn_is_an_error),
        cmocka_unit_test(test_a_flood_of_bad_frames_is_answered_or_ends),
    };

    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
