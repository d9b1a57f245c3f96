/* A leg's output: events with back-pressure, and what was kept. */
#include "front_stage.h"

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
    const struct session_bounds bounds = {HOUR, HOUR, 30000, 1000, 1000};
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

/* The warden says once more that the leg runs, with the files beside it as each time. */
static uint64_t say_it_runs(struct stage *stage, uint64_t request, const int files[2])
{
    const struct seam_end runs = {1};

    for (uint32_t stream = 1; stream <= 2; stream++)
        tell_log(stage, request, stream, files[stream - 1]);
    tell(stage, SEAM_END, request, &runs);
    return expect_only(stage, SEAM_ASK_LOGS);
}

static void test_kept_output_is_followed(void **state)
{
    struct kept_writer writers[2];
    struct stage stage;
    uint64_t request;
    int files[2] = {kept_file(&writers[0], 4096), kept_file(&writers[1], 4096)};

    (void)state;
    start(&stage, &patient);
    ask_logs(&stage, true);
    request = expect_only(&stage, SEAM_ASK_LOGS);
    for (unsigned int i = 0; i < 4; i++) {
        request = say_it_runs(&stage, request, files);
        assert_int_equal(kept_append(&writers[i % 2], "more", 4), 0);
        take_output(&stage, 1 + i % 2, "more", 0);
    }
    assert_int_equal(kept_append(&writers[1], "last", 4), 0);
    tell(&stage, SEAM_END, request, &no_value);
    take_output(&stage, 2, "last", 0);
    take_only(&stage, SAPHAN__V1__SERVER_FRAME__BODY_END, 12);
    close(files[0]);
    close(files[1]);
    assert_int_equal(finish(&stage), 0);
}

/* A log that starts late: the leg was still being built when it was first asked for. */
static void test_a_log_that_is_not_there_yet_is_followed(void **state)
{
    const struct seam_end runs = {1};
    struct kept_writer writer;
    struct stage stage;
    uint64_t request;
    int fd = kept_file(&writer, 4096);

    (void)state;
    start(&stage, &patient);
    ask_logs(&stage, true);
    request = expect_only(&stage, SEAM_ASK_LOGS);
    tell(&stage, SEAM_END, request, &runs);
    request = expect_only(&stage, SEAM_ASK_LOGS);
    assert_int_equal(kept_append(&writer, "late", 4), 0);
    tell_log(&stage, request, 1, fd);
    tell(&stage, SEAM_END, request, &no_value);
    take_output(&stage, 1, "late", 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_comes_before_the_verdict),
        cmocka_unit_test(test_a_client_that_does_not_read_holds_up_its_leg),
        cmocka_unit_test(test_a_stalled_client_is_closed),
        cmocka_unit_test(test_kept_output_with_a_gap),
        cmocka_unit_test(test_kept_output_is_followed),
        cmocka_unit_test(test_a_log_that_is_not_there_yet_is_followed),
        cmocka_unit_test(test_kept_output_that_is_none_is_refused),
    };

    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
