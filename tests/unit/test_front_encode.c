/* Seam messages into frames: what the warden said is what a client reads, within a frame. */
#include "encode.h"
#include "saphan.pb-c.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct outbox outbox;

static int set_up(void **state)
{
    (void)state;
    return outbox_init(&outbox);
}

static int tear_down(void **state)
{
    (void)state;
    outbox_done(&outbox);
    return 0;
}

/* Encodes FIXED with the strings of WRITER as a message of its type. */
static int encode_fixed(struct seam_writer *writer, const void *fixed, uint64_t request)
{
    struct seam_message message = {
        .header = writer->header, .fixed = fixed, .strings = writer->strings};
    int r = encode_answer(&message, request, &outbox);

    seam_writer_done(writer);
    return r;
}

static Saphan__V1__ServerFrame *take(void)
{
    uint32_t length;
    Saphan__V1__ServerFrame *frame;

    assert_true(outbox.end - outbox.start >= FRAME_HEADER);
    length = frame_get_length(outbox.bytes + outbox.start);
    assert_true(outbox.end - outbox.start >= FRAME_HEADER + length);
    frame =
        saphan__v1__server_frame__unpack(NULL, length, outbox.bytes + outbox.start + FRAME_HEADER);
    assert_non_null(frame);
    outbox.start += FRAME_HEADER + length;
    assert_int_equal(frame->protocol, 1);
    return frame;
}

#define drop(frame) saphan__v1__server_frame__free_unpacked(frame, NULL)

static void test_a_verdict(void **state)
{
    struct seam_verdict verdict = {.leg = 7, .colour = COLOUR_RED, .client_status = 112};
    struct seam_writer writer;
    Saphan__V1__ServerFrame *frame;

    (void)state;
    seam_writer_init(&writer, SEAM_VERDICT, 0);
    verdict.wait_status = 256;
    verdict.n_reasons = 1;
    verdict.reasons[0].reason = REASON_ARTEFACT_ABSENT;
    verdict.reasons[0].detail = seam_put_text(&writer, "out/\xff");
    verdict.n_claims = 1;
    verdict.claims[0].claim = CLAIM_EGRESS_CUT;
    verdict.claims[0].rungs = UINT64_C(1) << RUNG_NETNS | UINT64_C(1) << RUNG_LANDLOCK_NET;
    verdict.egress_cut = 1;
    verdict.kept = seam_put_text(&writer, "all\n");
    assert_int_equal(encode_fixed(&writer, &verdict, 5), 0);
    frame = take();
    assert_int_equal(frame->request, 5);
    assert_int_equal(frame->body_case, SAPHAN__V1__SERVER_FRAME__BODY_VERDICT);
    assert_int_equal(frame->verdict->colour, SAPHAN__V1__COLOUR__RED);
    assert_true(frame->verdict->exited);
    assert_int_equal(frame->verdict->wait_status, 256);
    assert_string_equal(frame->verdict->reasons[0]->slug, "artefact-absent");
    assert_int_equal(frame->verdict->reasons[0]->detail.len, 5);
    assert_int_equal(frame->verdict->claims[0]->n_rungs, 2);
    assert_string_equal(frame->verdict->claims[0]->rungs[1], "landlock-net");
    assert_string_equal(frame->verdict->kept, "all\\x0a");
    drop(frame);
}

static void test_a_verdict_without_a_status(void **state)
{
    struct seam_verdict verdict = {.wait_status = -1, .colour = COLOUR_INDETERMINATE};
    struct seam_writer writer;
    Saphan__V1__ServerFrame *frame;

    (void)state;
    seam_writer_init(&writer, SEAM_VERDICT, 0);
    verdict.kept = SEAM_TEXT_ABSENT;
    assert_int_equal(encode_fixed(&writer, &verdict, 5), 0);
    frame = take();
    assert_false(frame->verdict->exited);
    assert_int_equal(frame->verdict->wait_status, 0);
    drop(frame);
}

static void test_refusals(void **state)
{
    struct seam_refused refused = {.n_refusals = 2, .client_status = 127, .leg = 3};
    struct refusal own = {REASON_REQUEST_MALFORMED, "frame: x"};
    struct seam_writer writer;
    Saphan__V1__ServerFrame *frame;

    (void)state;
    seam_writer_init(&writer, SEAM_REFUSED, 0);
    refused.refusals[0].reason = REASON_COMMAND_NOT_FOUND;
    refused.refusals[0].detail = seam_put_text(&writer, "/x");
    refused.refusals[1].reason = REASON_BUILD_FAILED;
    refused.refusals[1].detail = SEAM_TEXT_ABSENT;
    assert_int_equal(encode_fixed(&writer, &refused, 5), 0);
    frame = take();
    assert_int_equal(frame->refused->n_reasons, 2);
    assert_int_equal(frame->refused->client_status, 127);
    assert_int_equal(frame->refused->leg, 3);
    assert_string_equal(frame->refused->reasons[1]->slug, "build-failed");
    drop(frame);
    assert_int_equal(encode_refusal(&own, 6, &outbox), 0);
    frame = take();
    assert_int_equal(frame->request, 6);
    assert_int_equal(frame->refused->client_status, 125);
    assert_string_equal(frame->refused->reasons[0]->slug, "request-malformed");
    drop(frame);
}

static void test_an_event_and_an_end(void **state)
{
    struct seam_event event = {.leg = 1, .kind = EVENT_DENIED, .a = -3};
    struct seam_end end = {17};
    struct seam_writer writer;
    Saphan__V1__ServerFrame *frame;

    (void)state;
    seam_writer_init(&writer, SEAM_EVENT, 0);
    event.reason = REASON_NESTED_SANDBOX;
    event.subject = seam_put_text(&writer, "unshare");
    event.detail = SEAM_TEXT_ABSENT;
    assert_int_equal(encode_fixed(&writer, &event, 5), 0);
    frame = take();
    assert_string_equal(frame->event->kind, "denied");
    assert_string_equal(frame->event->reason, "nested-sandbox");
    assert_int_equal(frame->event->a, -3);
    assert_int_equal(frame->event->subject.len, 7);
    drop(frame);
    seam_writer_init(&writer, SEAM_END, 0);
    assert_int_equal(encode_fixed(&writer, &end, 5), 0);
    frame = take();
    assert_int_equal(frame->end->value, 17);
    drop(frame);
}

/* The longest row that the seam can carry: it goes out, and says that it was cut. */
static void test_a_row_longer_than_a_frame_is_cut(void **state)
{
    static char long_text[40000];
    const char *argv[] = {long_text, "b", long_text, "c"};
    struct seam_leg leg = {.leg = 1, .uid = 1000, .state = LEG_ENDED, .wait_status = -1};
    struct seam_writer writer;
    Saphan__V1__ServerFrame *frame;

    (void)state;
    memset(long_text, 'a', sizeof(long_text) - 1);
    seam_writer_init(&writer, SEAM_LEG, 0);
    leg.argv = seam_put_list(&writer, argv, 4);
    leg.grants = seam_put_list(&writer, argv, 1);
    leg.user = seam_put_text(&writer, "ann");
    leg.vendor = leg.directory = leg.reasons = SEAM_TEXT_ABSENT;
    assert_int_equal(encode_fixed(&writer, &leg, 5), 0);
    frame = take();
    assert_true(frame->leg->cut);
    assert_int_equal(frame->leg->n_argv, 2);
    assert_int_equal(frame->leg->n_grants, 0);
    assert_string_equal(frame->leg->user, "ann");
    assert_int_equal(frame->leg->state, SAPHAN__V1__LEG_STATE__ENDED);
    drop(frame);
}

static void test_status_rung_and_rule(void **state)
{
    struct seam_status status = {.legs_running = 2, .healthy = 1, .pid = 9};
    struct seam_rung rung = {.rung = RUNG_LANDLOCK, .state = RUNG_HOLDS, .value = 7};
    struct seam_rule rule;
    struct seam_writer writer;
    Saphan__V1__ServerFrame *frame;

    (void)state;
    seam_writer_init(&writer, SEAM_STATUS, 0);
    status.version = seam_put_text(&writer, "1");
    status.kernel = status.socket = status.state_directory = status.problem = SEAM_TEXT_ABSENT;
    assert_int_equal(encode_fixed(&writer, &status, 5), 0);
    frame = take();
    assert_string_equal(frame->status->version, "1");
    assert_true(frame->status->healthy);
    drop(frame);
    seam_writer_init(&writer, SEAM_RUNG, 0);
    rung.detail = SEAM_TEXT_ABSENT;
    assert_int_equal(encode_fixed(&writer, &rung, 5), 0);
    frame = take();
    assert_string_equal(frame->rung->slug, "landlock");
    assert_string_equal(frame->rung->state, "holds");
    assert_int_equal(frame->rung->value, 7);
    drop(frame);
    seam_writer_init(&writer, SEAM_RULE, 0);
    memset(&rule, 0, sizeof(rule));
    rule.name = seam_put_text(&writer, "b\xc3\xbcro");
    rule.write = seam_put_text(&writer, "/srv");
    assert_int_equal(encode_fixed(&writer, &rule, 5), 0);
    frame = take();
    assert_string_equal(frame->rule->name, "b\\xc3\\xbcro");
    assert_int_equal(frame->rule->write.len, 4);
    drop(frame);
}

static void test_what_cannot_be_is_an_error(void **state)
{
    struct seam_verdict verdict = {.n_reasons = VERDICT_REASONS_MAX + 1};
    struct seam_verdict claims = {.n_claims = 1};
    struct seam_refused refused = {.n_refusals = REFUSALS_MAX + 1};
    struct seam_event event = {.kind = 77};
    struct seam_leg leg = {.state = 9};
    struct seam_rung rung = {.rung = RUNG_COUNT};
    struct seam_end end = {0};
    struct {
        uint16_t type;
        const void *fixed;
    } wrong[] = {{SEAM_VERDICT, &verdict}, {SEAM_VERDICT, &claims}, {SEAM_REFUSED, &refused},
        {SEAM_EVENT, &event}, {SEAM_LEG, &leg}, {SEAM_RUNG, &rung}, {SEAM_GO, &end},
        {SEAM_SERVE, &end}, {SEAM_LOG, &end}};

    (void)state;
    claims.claims[0].claim = CLAIM_COUNT;
    for (size_t i = 0; i < array_size(wrong); i++) {
        struct seam_writer writer;

        seam_writer_init(&writer, wrong[i].type, 0);
        assert_int_equal(encode_fixed(&writer, wrong[i].fixed, 5), -EINVAL);
    }
}

static void test_the_outbox_is_bounded(void **state)
{
    static char piece[FRAME_MAX - 64];
    struct refusal own = {REASON_REQUEST_MALFORMED, "frame: x"};
    int r, frames = 0;

    (void)state;
    while ((r = encode_output(1, piece, sizeof(piece), 0, 5, &outbox)) == 0)
        frames++;
    assert_int_equal(r, -ENOBUFS);
    assert_int_equal(frames, 3);
    assert_false(outbox_has_room(&outbox));
    assert_int_equal(encode_refusal(&own, 5, &outbox), -ENOBUFS);
    assert_int_equal(encode_output(1, piece, FRAME_MAX, 0, 5, &outbox), -EMSGSIZE);
    drop(take());
    assert_int_equal(encode_output(2, piece, sizeof(piece), 3, 5, &outbox), 0);
    drop(take());
    drop(take());
    {
        Saphan__V1__ServerFrame *frame = take();

        assert_int_equal(frame->output->stream, 2);
        assert_int_equal(frame->output->lost, 3);
        assert_int_equal(frame->output->data.len, sizeof(piece));
        drop(frame);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_verdict),
        TEST(test_a_verdict_without_a_status),
        TEST(test_refusals),
        TEST(test_an_event_and_an_end),
        TEST(test_a_row_longer_than_a_frame_is_cut),
        TEST(test_status_rung_and_rule),
        TEST(test_what_cannot_be_is_an_error),
        TEST(test_the_outbox_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
