/* A connection: events as saphand says them, order kept with the pumps, and nothing believed that
 * breaks the protocol. */
#include "client_fake.h"
#include "saphan.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const command[] = {"/bin/echo", "hi", NULL};

struct line {
    struct saphan *saphan;
    int daemon; /* our end */
};

static void line_open(struct line *line)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(saphan_adopt(ends[0], &line->saphan, NULL), 0);
    line->daemon = ends[1];
}

static void line_close(struct line *line)
{
    saphan_close(line->saphan);
    if (line->daemon >= 0)
        close(line->daemon);
}

static void run_plain(struct line *line, bool detach, uint64_t *ret_request)
{
    struct saphan_run run;
    struct fake_frame got;

    saphan_run_init(&run);
    run.argv = command;
    run.detach = detach;
    assert_int_equal(saphan_run(line->saphan, &run, ret_request, NULL), 0);
    fake_read(line->daemon, &got);
    assert_non_null(got.frame);
    assert_int_equal(got.frame->body_case, SAPHAN__V1__CLIENT_FRAME__BODY_RUN);
    assert_int_equal(got.frame->protocol, FRAME_PROTOCOL);
    assert_true(got.frame->request == *ret_request);
    fake_free(&got);
}

static int next(struct line *line, struct saphan_event *event)
{
    struct saphan_error error;

    return saphan_next(line->saphan, FAKE_WAIT_MS, NULL, event, &error);
}

static void a_run_from_ask_to_verdict(void **state)
{
    struct saphan_event event;
    struct line line;
    uint64_t request;

    line_open(&line);
    run_plain(&line, false, &request);
    assert_true(fake_accept(line.daemon, request, 7));
    assert_true(fake_tell(line.daemon, request, 7, "started", "", 2));
    assert_true(fake_tell(line.daemon, request, 7, "denied", "unshare", 3));
    assert_true(fake_tell(line.daemon, request, 7, "novelty", "", 3));
    assert_true(fake_verdict(line.daemon, request, 7, SAPHAN__V1__COLOUR__RED, 112, 0, "x-reason"));
    assert_int_equal(next(&line, &event), 0);
    assert_true(event.kind == SAPHAN_EVENT_ACCEPTED && event.leg == 7 && !event.last);
    assert_int_equal(next(&line, &event), 0);
    assert_true(event.kind == SAPHAN_EVENT_STARTED && event.told.pid == 2 && event.at_ms == 1000);
    assert_int_equal(next(&line, &event), 0);
    assert_true(event.kind == SAPHAN_EVENT_DENIED && event.told.count == 3);
    assert_string_equal(event.told.subject, "/s");
    assert_string_equal(event.told.detail, "unshare");
    assert_int_equal(next(&line, &event), 0);
    assert_true(event.kind == SAPHAN_EVENT_OTHER);
    assert_int_equal(next(&line, &event), 0);
    assert_true(event.kind == SAPHAN_EVENT_VERDICT && event.last);
    assert_true(event.verdict.colour == SAPHAN_RED && event.verdict.client_status == 112);
    assert_int_equal(event.verdict.n_reasons, 1);
    assert_string_equal(event.verdict.reasons[0].slug, "x-reason");
    assert_string_equal(event.verdict.claims[0].rungs[0], "userns");
    assert_null(event.verdict.claims[0].rungs[1]);
    assert_int_equal(saphan_next(line.saphan, 0, NULL, &event, NULL), SAPHAN_E_TIMEOUT);
    line_close(&line);
}

static void a_detached_run_ends_when_accepted(void **state)
{
    struct saphan_event event;
    struct line line;
    uint64_t request;

    line_open(&line);
    run_plain(&line, true, &request);
    assert_true(fake_accept(line.daemon, request, 8));
    assert_true(fake_tell(line.daemon, request, 8, "started", "", 2));
    assert_int_equal(next(&line, &event), 0);
    assert_true(event.kind == SAPHAN_EVENT_ACCEPTED && event.last);
    /* What is told later of a request that has ended is passed over. */
    assert_int_equal(saphan_next(line.saphan, 0, NULL, &event, NULL), SAPHAN_E_TIMEOUT);
    line_close(&line);
}

static void requests_go_side_by_side(void **state)
{
    struct saphan_event event;
    struct fake_frame got;
    struct line line;
    uint64_t run, kill, show;

    line_open(&line);
    run_plain(&line, false, &run);
    assert_int_equal(saphan_kill(line.saphan, 7, &kill, NULL), 0);
    assert_int_equal(saphan_show(line.saphan, 7, &show, NULL), 0);
    fake_read(line.daemon, &got);
    assert_int_equal(got.frame->body_case, SAPHAN__V1__CLIENT_FRAME__BODY_KILL_LEG);
    assert_true(got.frame->kill_leg->leg == 7);
    fake_free(&got);
    assert_true(fake_end(line.daemon, kill));
    /* A verdict does not end a show. */
    assert_true(fake_verdict(line.daemon, show, 7, SAPHAN__V1__COLOUR__RED, 125, 9, NULL));
    assert_true(fake_end(line.daemon, show));
    assert_true(fake_verdict(line.daemon, run, 7, SAPHAN__V1__COLOUR__RED, 137, 9, NULL));
    assert_int_equal(next(&line, &event), 0);
    assert_true(event.kind == SAPHAN_EVENT_END && event.request == kill && event.last);
    assert_int_equal(next(&line, &event), 0);
    assert_true(event.kind == SAPHAN_EVENT_VERDICT && event.request == show && !event.last);
    assert_int_equal(next(&line, &event), 0);
    assert_true(event.kind == SAPHAN_EVENT_END && event.request == show);
    assert_int_equal(next(&line, &event), 0);
    assert_true(event.kind == SAPHAN_EVENT_VERDICT && event.request == run && event.last);
    line_close(&line);
}

static int next_after(const void *bytes, size_t size, bool hang_up)
{
    struct saphan_event event;
    struct line line;
    uint64_t request;
    int r;

    line_open(&line);
    run_plain(&line, false, &request);
    assert_true(size == 0 || fake_bytes(line.daemon, bytes, size));
    if (hang_up)
        line.daemon = close_fd(&line.daemon);
    r = saphan_next(line.saphan, 0, NULL, &event, NULL);
    line_close(&line);
    return r;
}

static void broken_answers_are_named(void **state)
{
    static const uint8_t busy[] = {0, 0, 0, 0}, huge[] = {0xff, 0xff, 0xff, 0x7f},
                         junk[] = {3, 0, 0, 0, 0xff, 0xff, 0xff}, cut[] = {9, 0, 0, 0, 8, 1},
                         other_protocol[] = {2, 0, 0, 0, 8, 2},
                         unasked[] = {7, 0, 0, 0, 8, 1, 16, 99, 0x9a, 1, 0};

    assert_int_equal(next_after(busy, sizeof(busy), false), SAPHAN_E_BUSY);
    assert_int_equal(next_after(busy, sizeof(busy), true), SAPHAN_E_BUSY);
    assert_int_equal(next_after(huge, sizeof(huge), false), SAPHAN_E_PROTOCOL);
    assert_int_equal(next_after(junk, sizeof(junk), false), SAPHAN_E_PROTOCOL);
    assert_int_equal(next_after(other_protocol, sizeof(other_protocol), false), SAPHAN_E_PROTOCOL);
    assert_int_equal(next_after(unasked, sizeof(unasked), false), SAPHAN_E_PROTOCOL);
    assert_int_equal(next_after(cut, sizeof(cut), false), SAPHAN_E_TIMEOUT);
    assert_int_equal(next_after(cut, sizeof(cut), true), SAPHAN_E_CLOSED);
    assert_int_equal(next_after(NULL, 0, false), SAPHAN_E_TIMEOUT);
    assert_int_equal(next_after(NULL, 0, true), SAPHAN_E_CLOSED);
}

static void a_nul_inside_a_text_breaks_the_protocol(void **state)
{
    Saphan__V1__Event body = SAPHAN__V1__EVENT__INIT;
    struct saphan_event event;
    struct line line;
    uint64_t request;

    line_open(&line);
    run_plain(&line, false, &request);
    body.detail = (ProtobufCBinaryData){3, (uint8_t *)(uintptr_t) "a\0b"};
    assert_true(fake_say(line.daemon, request, EVENT, event, &body));
    assert_int_equal(next(&line, &event), SAPHAN_E_PROTOCOL);
    line_close(&line);
}

static void a_refused_connection_says_why(void **state)
{
    struct saphan_event event;
    struct line line;
    uint64_t request;

    line_open(&line);
    run_plain(&line, false, &request);
    assert_true(fake_refuse(line.daemon, 0, "not-allowed", 125));
    assert_int_equal(next(&line, &event), 0);
    assert_true(event.kind == SAPHAN_EVENT_REFUSED && event.last && event.request == 0);
    assert_string_equal(event.refused.reasons[0].slug, "not-allowed");
    line_close(&line);
}

static void frames_in_pieces_and_in_heaps(void **state)
{
    static char big[100000];
    struct saphan_event event;
    struct line line;
    uint64_t request;

    line_open(&line);
    run_plain(&line, false, &request);
    memset(big, 'x', sizeof(big));
    for (int i = 0; i < 40; i++)
        assert_true(fake_output(line.daemon, request, 1, "abc", 3));
    for (int i = 0; i < 40; i++) {
        assert_int_equal(next(&line, &event), 0);
        assert_true(event.kind == SAPHAN_EVENT_OUTPUT && event.output.size == 3);
    }
    assert_true(fake_output(line.daemon, request, 2, big, sizeof(big)));
    assert_int_equal(next(&line, &event), 0);
    assert_int_equal(event.output.size, sizeof(big));
    assert_memory_equal(event.output.bytes, big, sizeof(big));
    assert_int_equal(event.output.stream, 2);
    line_close(&line);
}

static void a_request_too_big_is_not_sent(void **state)
{
    static char big[FRAME_MAX + 1];
    const char *argv[] = {"x", big, NULL};
    struct saphan_run run;
    struct saphan_error error;
    struct line line;
    struct pollfd poll_fd = {.events = POLLIN};

    line_open(&line);
    memset(big, 'a', sizeof(big) - 1);
    saphan_run_init(&run);
    run.argv = argv;
    assert_int_equal(saphan_run(line.saphan, &run, NULL, &error), SAPHAN_E_TOO_BIG);
    assert_string_equal(error.step, "request-too-big");
    poll_fd.fd = line.daemon;
    assert_int_equal(poll(&poll_fd, 1, 0), 0);
    line_close(&line);
}

/* ---- pumps ---- */

static void run_pumped(struct line *line, int in, int out, struct fake_frame *got)
{
    struct saphan_run run;

    saphan_run_init(&run);
    run.argv = command;
    if (in >= 0)
        run.in = (struct saphan_stream){SAPHAN_STREAM_FD, in};
    if (out >= 0)
        run.out = (struct saphan_stream){SAPHAN_STREAM_FD, out};
    assert_int_equal(saphan_run(line->saphan, &run, NULL, NULL), 0);
    fake_read(line->daemon, got);
    assert_non_null(got->frame);
}

/* A datagram pair stands for whatever must be pumped. */
static void output_comes_before_its_verdict(void **state)
{
    int pair[2];
    char text[16] = "";
    struct saphan_event event;
    struct fake_frame got;
    struct line line;

    line_open(&line);
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
    run_pumped(&line, -1, pair[0], &got);
    assert_int_equal(got.n_fds, 1);
    assert_int_equal(got.frame->run->standard_output->descriptor, 1);
    assert_int_equal(write(got.fds[0], "before", 6), 6);
    assert_true(fake_verdict(line.daemon, 1, 7, SAPHAN__V1__COLOUR__GREEN, 0, 0, NULL));
    /* The leg's end is still open here, as if saphand were slow to close it: that must not hang. */
    assert_int_equal(next(&line, &event), 0);
    assert_true(event.kind == SAPHAN_EVENT_VERDICT);
    assert_int_equal(recv(pair[1], text, sizeof(text), MSG_DONTWAIT), 6);
    assert_string_equal(text, "before");
    fake_free(&got);
    line_close(&line);
    close(pair[0]);
    close(pair[1]);
}

static void input_is_pumped_to_its_end(void **state)
{
    int pair[2];
    char text[16] = "";
    struct saphan_event event;
    struct fake_frame got;
    struct line line;

    line_open(&line);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    run_pumped(&line, pair[0], -1, &got);
    assert_int_equal(send(pair[1], "typed", 5, 0), 5);
    assert_int_equal(saphan_next(line.saphan, 0, NULL, &event, NULL), SAPHAN_E_TIMEOUT);
    assert_int_equal(read(got.fds[0], text, sizeof(text)), 5);
    assert_string_equal(text, "typed");
    close(pair[1]);
    assert_int_equal(saphan_next(line.saphan, 0, NULL, &event, NULL), SAPHAN_E_TIMEOUT);
    assert_int_equal(read(got.fds[0], text, sizeof(text)), 0);
    fake_free(&got);
    line_close(&line);
    close(pair[0]);
}

static void output_as_events_comes_before_the_end(void **state)
{
    static const char *const says[] = {"one", "two"};
    struct saphan_event event;
    struct saphan_run run;

    for (int broken = 0; broken < 2; broken++) {
        struct fake_frame got;
        struct line line;

        line_open(&line);
        saphan_run_init(&run);
        run.argv = command;
        run.out.mode = run.err.mode = SAPHAN_STREAM_EVENTS;
        assert_int_equal(saphan_run(line.saphan, &run, NULL, NULL), 0);
        fake_read(line.daemon, &got);
        assert_int_equal(got.n_fds, 2);
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(write(got.fds[i], says[i], 3), 3);
        if (broken)
            line.daemon = close_fd(&line.daemon);
        else
            assert_true(fake_verdict(line.daemon, 1, 7, SAPHAN__V1__COLOUR__GREEN, 0, 0, NULL));
        for (unsigned int i = 0; i < 2; i++) {
            assert_int_equal(next(&line, &event), 0);
            assert_true(event.kind == SAPHAN_EVENT_OUTPUT && event.request == 1);
            assert_true(event.output.stream == i + 1 && event.output.size == 3);
            assert_memory_equal(event.output.bytes, says[i], 3);
        }
        assert_int_equal(next(&line, &event), broken ? SAPHAN_E_CLOSED : 0);
        assert_true(broken || (event.kind == SAPHAN_EVENT_VERDICT && event.last));
        fake_free(&got);
        line_close(&line);
    }
}

/* Nobody reads the client's output: the leg sees it on its pipe, and the verdict still comes. */
static void a_gone_reader_ends_the_pump(void **state)
{
    int pair[2];
    struct saphan_event event;
    struct fake_frame got;
    struct line line;

    (void)signal(SIGPIPE, SIG_IGN);
    line_open(&line);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    run_pumped(&line, -1, pair[0], &got);
    close(pair[1]);
    assert_int_equal(write(got.fds[0], "lost", 4), 4);
    assert_int_equal(saphan_next(line.saphan, 0, NULL, &event, NULL), SAPHAN_E_TIMEOUT);
    assert_int_equal(write(got.fds[0], "lost", 4), -1);
    assert_int_equal(errno, EPIPE);
    assert_true(fake_verdict(line.daemon, 1, 7, SAPHAN__V1__COLOUR__GREEN, 0, 0, NULL));
    assert_int_equal(next(&line, &event), 0);
    fake_free(&got);
    line_close(&line);
    close(pair[0]);
}

static void no_descriptor_stays_behind(void **state)
{
    int before = open("/dev/null", O_RDONLY), after, pair[2];
    struct saphan_event event;
    struct fake_frame got;
    struct line line;

    close(before);
    line_open(&line);
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
    run_pumped(&line, pair[0], pair[1], &got);
    assert_int_equal(saphan_next(line.saphan, 0, NULL, &event, NULL), SAPHAN_E_TIMEOUT);
    fake_free(&got);
    line_close(&line);
    close(pair[0]);
    close(pair[1]);
    after = open("/dev/null", O_RDONLY);
    assert_int_equal(after, before);
    close(after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_from_ask_to_verdict),
        cmocka_unit_test(a_detached_run_ends_when_accepted),
        cmocka_unit_test(requests_go_side_by_side),
        cmocka_unit_test(broken_answers_are_named),
        cmocka_unit_test(a_nul_inside_a_text_breaks_the_protocol),
        cmocka_unit_test(a_refused_connection_says_why),
        cmocka_unit_test(frames_in_pieces_and_in_heaps),
        cmocka_unit_test(a_request_too_big_is_not_sent),
        cmocka_unit_test(output_comes_before_its_verdict),
        cmocka_unit_test(input_is_pumped_to_its_end),
        cmocka_unit_test(output_as_events_comes_before_the_end),
        cmocka_unit_test(a_gone_reader_ends_the_pump),
        cmocka_unit_test(no_descriptor_stays_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
