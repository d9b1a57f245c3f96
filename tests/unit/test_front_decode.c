/* Frames into seam messages: what is well formed comes over whole, everything else is refused with
 * the field named. */
#include "decode.h"
#include "frame.h"
#include "saphan.pb-c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static uint8_t packed[4 * FRAME_MAX];

#define BYTES(text) ((ProtobufCBinaryData){strlen(text), (uint8_t *)(uintptr_t)(text)})

/* A Run with all its parts, to be spoilt by each test. */
struct wish {
    Saphan__V1__ClientFrame frame;
    Saphan__V1__Run run;
    Saphan__V1__Limits limits;
    Saphan__V1__Stream streams[3];
    Saphan__V1__Grant grants[3], *grant_list[3];
    Saphan__V1__Artefact artefacts[1], *artefact_list[1];
    ProtobufCBinaryData argv[2], env[1], carve_outs[2];
};

static uint8_t digest[32] = {1, 2, 3};

static void fill_lists(struct wish *wish)
{
    for (size_t i = 0; i < 3; i++) {
        saphan__v1__grant__init(&wish->grants[i]);
        saphan__v1__stream__init(&wish->streams[i]);
        wish->grant_list[i] = &wish->grants[i];
    }
    wish->grants[0].kind = SAPHAN__V1__GRANT_KIND__GRANT_WORKSPACE;
    wish->grants[0].descriptor = 1;
    wish->grants[0].path = BYTES("./x");
    wish->grants[1].kind = SAPHAN__V1__GRANT_KIND__GRANT_READ;
    wish->grants[1].path = BYTES("/srv/r");
    wish->grants[2].kind = SAPHAN__V1__GRANT_KIND__GRANT_SEAT;
    wish->grants[2].descriptor = 2;
    saphan__v1__artefact__init(&wish->artefacts[0]);
    wish->artefacts[0].path = BYTES("out/report");
    wish->artefacts[0].min_size = 7;
    wish->artefacts[0].sha256 = (ProtobufCBinaryData){32, digest};
    wish->artefact_list[0] = &wish->artefacts[0];
    wish->streams[1].mode = SAPHAN__V1__STREAM_MODE__STREAM_DESCRIPTOR;
    wish->streams[1].descriptor = 3;
    wish->streams[2].mode = SAPHAN__V1__STREAM_MODE__STREAM_EVENTS;
}

static void fill(struct wish *wish)
{
    memset(wish, 0, sizeof(*wish));
    saphan__v1__client_frame__init(&wish->frame);
    saphan__v1__run__init(&wish->run);
    saphan__v1__limits__init(&wish->limits);
    fill_lists(wish);
    wish->frame.protocol = 1;
    wish->frame.request = 42;
    wish->frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_RUN;
    wish->frame.run = &wish->run;
    wish->argv[0] = BYTES("sh");
    wish->argv[1] = BYTES("-c \xff");
    wish->env[0] = BYTES("A=b=c");
    wish->carve_outs[0] = BYTES(".git");
    wish->carve_outs[1] = BYTES("/srv/w/.x");
    wish->limits.tasks = 10;
    wish->limits.wall_ms = 500;
    wish->run.argv = wish->argv;
    wish->run.n_argv = 2;
    wish->run.env = wish->env;
    wish->run.n_env = 1;
    wish->run.carve_outs = wish->carve_outs;
    wish->run.n_carve_outs = 2;
    wish->run.grants = wish->grant_list;
    wish->run.n_grants = 3;
    wish->run.artefacts = wish->artefact_list;
    wish->run.n_artefacts = 1;
    wish->run.limits = &wish->limits;
    wish->run.standard_input = &wish->streams[0];
    wish->run.standard_output = &wish->streams[1];
    wish->run.standard_error = &wish->streams[2];
    wish->run.boundary = SAPHAN__V1__BOUNDARY__BOUNDARY_DOMAIN;
    wish->run.vendor = (char *)(uintptr_t) "claude-code";
    wish->run.chdir = BYTES("/srv/w");
    wish->run.git = 1;
}

#define WISH_DESCRIPTORS 3

static int decode_frame(
    const Saphan__V1__ClientFrame *frame, size_t n, struct ask *ask, struct refusal *refusal)
{
    size_t size = saphan__v1__client_frame__pack(frame, packed);

    memset(refusal, 0, sizeof(*refusal));
    return decode(packed, size, n, ask, refusal);
}

/* The wish as the seam would carry it, for seam_text() and the lists. */
static struct seam_message view_of(const struct ask *ask)
{
    return (struct seam_message){.fixed = &ask->fixed, .strings = ask->writer.strings};
}

static void test_a_run_comes_over_whole(void **state)
{
    struct wish wish;
    struct ask ask;
    struct refusal refusal;
    struct seam_message view;
    const struct seam_run *run = &ask.fixed.run;

    (void)state;
    fill(&wish);
    assert_int_equal(decode_frame(&wish.frame, WISH_DESCRIPTORS, &ask, &refusal), 0);
    view = view_of(&ask);
    assert_int_equal(ask.request, 42);
    assert_int_equal(ask.writer.header.type, SEAM_ASK_RUN);
    assert_int_equal(run->boundary, BOUNDARY_DOMAIN);
    assert_int_equal(run->view, VIEW_UNSET);
    assert_int_equal(run->git, 1);
    assert_int_equal(run->n_grants, 3);
    assert_int_equal(run->grants[0].kind, GRANT_WORKSPACE);
    assert_int_equal(run->grants[0].descriptor, 0);
    assert_int_equal(run->grants[1].descriptor, -1);
    assert_string_equal(seam_text(&view, run->grants[1].path), "/srv/r");
    assert_null(seam_text(&view, run->grants[2].path));
    assert_int_equal(run->artefacts[0].min_size, 7);
    assert_int_equal(run->artefacts[0].has_sha256, 1);
    assert_memory_equal(run->artefacts[0].sha256, digest, 32);
    assert_string_equal(seam_text(&view, run->artefacts[0].path), "out/report");
    assert_int_equal(run->streams[0].mode, STREAM_NULL);
    assert_int_equal(run->streams[1].descriptor, 2);
    assert_int_equal(run->streams[2].mode, STREAM_EVENTS);
    assert_int_equal(run->streams[2].descriptor, -1);
    assert_int_equal(run->limits.wall_ms, 500);
    assert_int_equal(run->argv.count, 2);
    assert_string_equal(seam_list_next(seam_list_first(&view, run->argv)), "-c \xff");
    assert_string_equal(seam_list_first(&view, run->env), "A=b=c");
    assert_int_equal(run->carve_outs.count, 2);
    assert_string_equal(seam_text(&view, run->chdir), "/srv/w");
    assert_string_equal(seam_text(&view, run->vendor), "claude-code");
    ask_done(&ask);
}

static void test_the_least_run(void **state)
{
    struct wish wish;
    struct ask ask;
    struct refusal refusal;
    struct seam_message view;

    (void)state;
    fill(&wish);
    saphan__v1__run__init(&wish.run);
    wish.run.argv = wish.argv;
    wish.run.n_argv = 1;
    assert_int_equal(decode_frame(&wish.frame, 0, &ask, &refusal), 0);
    view = view_of(&ask);
    assert_null(seam_text(&view, ask.fixed.run.vendor));
    assert_null(seam_text(&view, ask.fixed.run.chdir));
    assert_int_equal(ask.fixed.run.streams[1].mode, STREAM_NULL);
    assert_int_equal(ask.fixed.run.env.count, 0);
    ask_done(&ask);
}

#define STRING(text) ((char *)(uintptr_t)(text))

static void test_what_a_container_is_asked_for(void **state)
{
    char *names[] = {STRING("CAP_CHOWN"), STRING("CAP_NET_BIND_SERVICE"), STRING("CAP_CHOWN")};
    struct wish wish;
    struct ask ask;
    struct refusal refusal;
    struct seam_message view;

    (void)state;
    fill(&wish);
    wish.run.boundary = SAPHAN__V1__BOUNDARY__BOUNDARY_CONTAINER;
    wish.run.image = STRING("debian");
    wish.run.user = STRING("bob:crew");
    wish.run.host_name = STRING("a-b.c");
    wish.run.writable_root = 1;
    wish.run.transport = STRING("local");
    wish.run.capabilities = names;
    wish.run.n_capabilities = 3;
    assert_int_equal(decode_frame(&wish.frame, WISH_DESCRIPTORS, &ask, &refusal), 0);
    view = view_of(&ask);
    assert_string_equal(seam_text(&view, ask.fixed.run.image), "debian");
    assert_string_equal(seam_text(&view, ask.fixed.run.user), "bob:crew");
    assert_string_equal(seam_text(&view, ask.fixed.run.host_name), "a-b.c");
    assert_int_equal(ask.fixed.run.writable_root, 1);
    assert_int_equal(ask.fixed.run.capabilities, 1U << 0 | 1U << 10);
    ask_done(&ask);
    names[2] = STRING("CAP_SYS_ADMIN");
    assert_int_equal(decode_frame(&wish.frame, WISH_DESCRIPTORS, &ask, &refusal), DECODE_E_REFUSED);
    assert_int_equal(refusal.reason, REASON_CAPABILITY_UNKNOWN);
    assert_non_null(strstr(refusal.detail, "CAP_SYS_ADMIN"));
    wish.run.n_capabilities = 0;
    wish.run.transport = STRING("ssh://there");
    assert_int_equal(decode_frame(&wish.frame, WISH_DESCRIPTORS, &ask, &refusal), DECODE_E_REFUSED);
    assert_int_equal(refusal.reason, REASON_TRANSPORT_UNAVAILABLE);
}

static void test_the_other_requests(void **state)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__ListLegs list = SAPHAN__V1__LIST_LEGS__INIT;
    Saphan__V1__LegLogs logs = SAPHAN__V1__LEG_LOGS__INIT;
    Saphan__V1__KillLeg kill = SAPHAN__V1__KILL_LEG__INIT;
    struct ask ask;
    struct refusal refusal;

    (void)state;
    frame.protocol = 1;
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_LIST_LEGS;
    frame.list_legs = &list;
    list.all = 1;
    assert_int_equal(decode_frame(&frame, 0, &ask, &refusal), 0);
    assert_int_equal(ask.writer.header.type, SEAM_ASK_LEGS);
    assert_int_equal(ask.fixed.legs.all, 1);
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_LEG_LOGS;
    frame.leg_logs = &logs;
    logs.leg = 9;
    logs.follow = 1;
    assert_int_equal(decode_frame(&frame, 0, &ask, &refusal), 0);
    assert_int_equal(ask.writer.header.type, SEAM_ASK_LOGS);
    assert_int_equal(ask.fixed.leg.leg, 9);
    assert_int_equal(ask.fixed.leg.follow, 1);
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_KILL_LEG;
    frame.kill_leg = &kill;
    assert_int_equal(decode_frame(&frame, 0, &ask, &refusal), DECODE_E_REFUSED);
    assert_string_equal(refusal.detail, "leg: 0 is no leg");
    kill.leg = 9;
    assert_int_equal(decode_frame(&frame, 1, &ask, &refusal), DECODE_E_REFUSED);
    assert_string_equal(refusal.detail, "descriptor 1: no field names it");
}

/* ---- spoilt runs: each names its field ---- */

#define SPOILT(name, field, ...)                                                                   \
    static void spoil_##name(struct wish *wish)                                                    \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
#include "front_spoilt.def"
#undef SPOILT

static const struct {
    const char *name, *field;
    void (*spoil)(struct wish *wish);
} spoilt[] = {
#define SPOILT(name, field, ...) {#name, field, spoil_##name},
#include "front_spoilt.def"
#undef SPOILT
};

static void test_each_spoilt_run_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < array_size(spoilt); i++) {
        struct wish wish;
        struct ask ask;
        struct refusal refusal;
        int r;

        fill(&wish);
        spoilt[i].spoil(&wish);
        r = decode_frame(&wish.frame, WISH_DESCRIPTORS, &ask, &refusal);
        if (r != DECODE_E_REFUSED || refusal.reason != REASON_REQUEST_MALFORMED ||
            strncmp(refusal.detail, spoilt[i].field, strlen(spoilt[i].field)) != 0)
            fail_msg("%s: result %d, %s", spoilt[i].name, r, refusal.detail);
        assert_int_equal(ask.request, 42);
    }
}

static void test_too_many_grants_have_a_reason_of_their_own(void **state)
{
    Saphan__V1__Grant *many[GRANTS_MAX + 1];
    struct wish wish;
    struct ask ask;
    struct refusal refusal;

    (void)state;
    fill(&wish);
    for (size_t i = 0; i < array_size(many); i++)
        many[i] = &wish.grants[1];
    wish.run.grants = many;
    wish.run.n_grants = GRANTS_MAX + 1;
    assert_int_equal(decode_frame(&wish.frame, 3, &ask, &refusal), DECODE_E_REFUSED);
    assert_int_equal(refusal.reason, REASON_GRANTS_TOO_MANY);
}

static void test_a_full_frame_of_short_arguments_is_not_malformed(void **state)
{
    static ProtobufCBinaryData argv[40000];
    struct wish wish;
    struct ask ask;
    struct refusal refusal;

    (void)state;
    fill(&wish);
    for (size_t i = 0; i < array_size(argv); i++)
        argv[i] = BYTES("a");
    wish.run.argv = argv;
    wish.run.n_argv = array_size(argv);
    assert_true(saphan__v1__client_frame__get_packed_size(&wish.frame) < FRAME_MAX);
    assert_int_equal(decode_frame(&wish.frame, 3, &ask, &refusal), 0);
    assert_int_equal(ask.fixed.run.argv.count, 40000);
    ask_done(&ask);
}

static void test_what_the_seam_cannot_carry_is_too_big(void **state)
{
    static char text[SEAM_STRINGS_MAX];
    ProtobufCBinaryData argv[1] = {{sizeof(text), (uint8_t *)text}};
    struct wish wish;
    struct ask ask;
    struct refusal refusal;

    (void)state;
    memset(text, 'a', sizeof(text));
    fill(&wish);
    wish.run.argv = argv;
    wish.run.n_argv = 1;
    assert_int_equal(decode_frame(&wish.frame, 3, &ask, &refusal), DECODE_E_REFUSED);
    assert_int_equal(refusal.reason, REASON_REQUEST_TOO_BIG);
}

/* ---- bytes that are no frame ---- */

static void refuse_bytes(const void *bytes, size_t size, const char *detail)
{
    struct ask ask;
    struct refusal refusal = {0};

    assert_int_equal(decode(bytes, size, 0, &ask, &refusal), DECODE_E_REFUSED);
    assert_int_equal(refusal.reason, REASON_REQUEST_MALFORMED);
    assert_string_equal(refusal.detail, detail);
}

static void test_every_truncation_is_refused_or_whole(void **state)
{
    struct wish wish;
    size_t size;

    (void)state;
    fill(&wish);
    size = saphan__v1__client_frame__pack(&wish.frame, packed);
    for (size_t i = 0; i < size; i++) {
        struct ask ask;
        struct refusal refusal;

        assert_int_equal(decode(packed, i, WISH_DESCRIPTORS, &ask, &refusal), DECODE_E_REFUSED);
    }
}

static void test_wrong_types_are_refused(void **state)
{
    (void)state;
    refuse_bytes("\x0a\x01\x01", 3, "frame: not a ClientFrame");     /* protocol as bytes */
    refuse_bytes("\x08\x01\x50\x01", 4, "frame: not a ClientFrame"); /* run as a number */
    refuse_bytes("\x08\x01", 2, "body: absent");
    refuse_bytes("\x08\x02\x7a\x00", 4, "protocol: 2 is not one of 1..1");
    refuse_bytes("\xff\xff\xff\xff\xff\xff", 6, "frame: not a ClientFrame");
    refuse_bytes("\x08\x01\x9a\x03\x00", 5, "ClientFrame: unknown field 51");
    refuse_bytes("\x08\x01\x7a\x02\x08\x01", 6, "Status: unknown field 1");
    refuse_bytes("\x08\x01\x52\x09\x0a\x01"
                 "a\x32\x04"
                 "pr\0c",
        13, "vendor: a NUL byte");
}

/* Ten thousand levels of a length-delimited field inside each other: the deepest known type ends
 * after two, and the rest are bytes of an unknown field. */
static void test_nesting_is_no_recursion(void **state)
{
    size_t at = FRAME_MAX;

    (void)state;
    for (unsigned int i = 0; i < 10000; i++) {
        size_t inside = FRAME_MAX - at;

        if (inside >= 16384)
            packed[--at] = (uint8_t)(inside >> 14);
        if (inside >= 128)
            packed[--at] = (uint8_t)((inside >> 7 & 0x7f) | (inside >= 16384 ? 0x80 : 0));
        packed[--at] = (uint8_t)((inside & 0x7f) | (inside >= 128 ? 0x80 : 0));
        packed[--at] = 10 << 3 | 2;
    }
    packed[--at] = 1;
    packed[--at] = 1 << 3;
    {
        struct ask ask;
        struct refusal refusal;

        assert_int_equal(decode(packed + at, FRAME_MAX - at, 0, &ask, &refusal), DECODE_E_REFUSED);
        assert_string_equal(refusal.detail, "Limits: unknown field 10");
    }
}

/* As many empty submessages as a frame holds would be some 50 bytes of memory for 2 of frame. */
static void test_memory_is_bounded_by_the_frame(void **state)
{
    size_t at = 0;

    (void)state;
    packed[at++] = 10 << 3 | 2;
    packed[at++] = 0xf0;
    packed[at++] = 0xff;
    packed[at++] = 0x07; /* 131056 bytes of Run */
    for (unsigned int i = 0; i < 131056 / 2; i++) {
        packed[at++] = 9 << 3 | 2;
        packed[at++] = 0;
    }
    refuse_bytes(packed, at, "frame: not a ClientFrame");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_run_comes_over_whole),
        cmocka_unit_test(test_the_least_run),
        cmocka_unit_test(test_what_a_container_is_asked_for),
        cmocka_unit_test(test_the_other_requests),
        cmocka_unit_test(test_each_spoilt_run_is_refused),
        cmocka_unit_test(test_too_many_grants_have_a_reason_of_their_own),
        cmocka_unit_test(test_a_full_frame_of_short_arguments_is_not_malformed),
        cmocka_unit_test(test_what_the_seam_cannot_carry_is_too_big),
        cmocka_unit_test(test_every_truncation_is_refused_or_whole),
        cmocka_unit_test(test_wrong_types_are_refused),
        cmocka_unit_test(test_nesting_is_no_recursion),
        cmocka_unit_test(test_memory_is_bounded_by_the_frame),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
