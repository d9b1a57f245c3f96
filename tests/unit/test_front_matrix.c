/* The machine row and the matrix between frames and seam messages, both ways. */
#include "decode.h"
#include "encode.h"
#include "frame.h"
#include "matrix.h"
#include "saphan.pb-c.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static uint8_t packed[4 * FRAME_MAX];
static struct outbox outbox;

#define BYTES(text) ((ProtobufCBinaryData){strlen(text), (uint8_t *)(uintptr_t)(text)})
#define NUL_BYTES(text) ((ProtobufCBinaryData){sizeof(text) - 1, (uint8_t *)(uintptr_t)(text)})
#define WORD(text) ((char *)(uintptr_t)(text))

/* ---- what a client asks ---- */

struct wish {
    Saphan__V1__ClientFrame frame;
    Saphan__V1__Machine machine;
    Saphan__V1__CellStep cell_step;
    Saphan__V1__Cell cell;
    Saphan__V1__ArmStep arm_step;
    Saphan__V1__Arm arm;
    ProtobufCBinaryData argv[65];
    Saphan__V1__Matrix matrix;
};

static void fill(struct wish *wish, Saphan__V1__ClientFrame__BodyCase body)
{
    memset(wish, 0, sizeof(*wish));
    saphan__v1__client_frame__init(&wish->frame);
    saphan__v1__machine__init(&wish->machine);
    saphan__v1__cell_step__init(&wish->cell_step);
    saphan__v1__cell__init(&wish->cell);
    saphan__v1__arm_step__init(&wish->arm_step);
    saphan__v1__arm__init(&wish->arm);
    saphan__v1__matrix__init(&wish->matrix);
    wish->frame.protocol = 1;
    wish->frame.request = 42;
    wish->frame.body_case = body;
    wish->cell_step = (Saphan__V1__CellStep){wish->cell_step.base, 1, &wish->cell};
    wish->cell.cell = 9;
    wish->cell.verdict = WORD("COLLIDES");
    wish->cell.silent = 1;
    wish->cell.arm = 4;
    wish->cell.begun_ms = 5;
    wish->cell.ended_ms = 6;
    wish->cell.vendor = BYTES("codex");
    wish->cell.why = BYTES("clone \xff");
    wish->arm_step.step = 2;
    wish->arm_step.arm = &wish->arm;
    wish->arm_step.argv = wish->argv;
    wish->arm_step.n_argv = 2;
    for (size_t i = 0; i < 65; i++)
        wish->argv[i] = BYTES("word");
    wish->arm.cell = 9;
    wish->arm.leg = 70;
    wish->arm.arm = 5;
    wish->arm.outcome = WORD("held");
    wish->arm.status = -1;
    wish->arm.command = BYTES("codex exec");
    wish->arm.output = BYTES("DONE\n");
    wish->matrix.what = 2;
    wish->matrix.arms = 1;
    wish->matrix.after = 1U << 31;
    wish->matrix.vendor = BYTES("codex");
}

/* The oneof shares its place, so it is set last. */
static int decode_wish(struct wish *wish, struct ask *ask, struct refusal *refusal)
{
    size_t size;

    switch (wish->frame.body_case) {
    case SAPHAN__V1__CLIENT_FRAME__BODY_MACHINE:
        wish->frame.machine = &wish->machine;
        break;
    case SAPHAN__V1__CLIENT_FRAME__BODY_CELL_STEP:
        wish->frame.cell_step = &wish->cell_step;
        break;
    case SAPHAN__V1__CLIENT_FRAME__BODY_ARM_STEP:
        wish->frame.arm_step = &wish->arm_step;
        break;
    default:
        wish->frame.matrix = &wish->matrix;
    }
    size = saphan__v1__client_frame__pack(&wish->frame, packed);
    memset(refusal, 0, sizeof(*refusal));
    return decode(packed, size, 0, ask, refusal);
}

static struct seam_message view_of(const struct ask *ask)
{
    return (struct seam_message){.fixed = &ask->fixed, .strings = ask->writer.strings};
}

static void asking_comes_over_whole(void **state)
{
    struct wish wish;
    struct ask ask;
    struct refusal refusal;
    struct seam_message view;

    (void)state;
    fill(&wish, SAPHAN__V1__CLIENT_FRAME__BODY_MACHINE);
    wish.machine.measure = 1;
    assert_int_equal(decode_wish(&wish, &ask, &refusal), 0);
    assert_int_equal(ask.writer.header.type, SEAM_ASK_MACHINE);
    assert_int_equal(ask.fixed.machine.measure, 1);
    ask_done(&ask);

    fill(&wish, SAPHAN__V1__CLIENT_FRAME__BODY_MATRIX);
    assert_int_equal(decode_wish(&wish, &ask, &refusal), 0);
    view = view_of(&ask);
    assert_int_equal(ask.writer.header.type, SEAM_ASK_MATRIX);
    assert_int_equal(ask.fixed.matrix.what, MATRIX_HISTORY);
    assert_int_equal(ask.fixed.matrix.arms, 1);
    assert_int_equal(ask.fixed.matrix.after, 1U << 31);
    assert_string_equal(seam_text(&view, ask.fixed.matrix.vendor), "codex");
    ask_done(&ask);
}

static void a_cell_comes_over_whole(void **state)
{
    struct wish wish;
    struct ask ask;
    struct refusal refusal;
    struct seam_message view;
    const struct seam_cell *cell = &ask.fixed.cell;

    (void)state;
    fill(&wish, SAPHAN__V1__CLIENT_FRAME__BODY_CELL_STEP);
    assert_int_equal(decode_wish(&wish, &ask, &refusal), 0);
    view = view_of(&ask);
    assert_int_equal(ask.writer.header.type, SEAM_ASK_CELL);
    assert_int_equal(cell->cell, 9);
    assert_int_equal(cell->step, CELL_STEP_BEGIN);
    assert_int_equal(cell->verdict, CELL_COLLIDES);
    assert_int_equal(cell->silent, 1);
    assert_int_equal(cell->arm, ARM_TURN);
    assert_true(cell->begun_ms == 5 && cell->ended_ms == 6);
    assert_string_equal(seam_text(&view, cell->texts[CELL_TEXT_vendor]), "codex");
    assert_string_equal(seam_text(&view, cell->texts[CELL_TEXT_why]), "clone \xff");
    assert_null(seam_text(&view, cell->texts[CELL_TEXT_origin])); /* empty: absent */
    ask_done(&ask);
}

static void an_arm_comes_over_whole(void **state)
{
    struct wish wish;
    struct ask ask;
    struct refusal refusal;
    struct seam_message view;
    const struct seam_arm *arm = &ask.fixed.arm;
    const char *word;

    (void)state;
    fill(&wish, SAPHAN__V1__CLIENT_FRAME__BODY_ARM_STEP);
    assert_int_equal(decode_wish(&wish, &ask, &refusal), 0);
    view = view_of(&ask);
    assert_int_equal(ask.writer.header.type, SEAM_ASK_ARM);
    assert_true(arm->cell == 9 && arm->leg == 70 && arm->arm == ARM_CONTROL && arm->status == -1);
    assert_int_equal(arm->step, CELL_STEP_END);
    assert_int_equal(arm->outcome, OUTCOME_HELD);
    assert_string_equal(seam_text(&view, arm->texts[ARM_TEXT_COMMAND]), "codex exec");
    assert_string_equal(seam_text(&view, arm->texts[ARM_TEXT_OUTPUT]), "DONE\n");
    assert_null(seam_text(&view, arm->texts[ARM_TEXT_EVENTS]));
    assert_int_equal(arm->argv.count, 2);
    word = seam_list_first(&view, arm->argv);
    assert_string_equal(seam_list_next(word), "word");
    ask_done(&ask);
}

#define CELL SAPHAN__V1__CLIENT_FRAME__BODY_CELL_STEP
#define ARM SAPHAN__V1__CLIENT_FRAME__BODY_ARM_STEP
#define MATRIX SAPHAN__V1__CLIENT_FRAME__BODY_MATRIX
static char too_long[20000];

/* SPOILT(name, body, field that the refusal must name, what is done to the wish) */
#define ALL_SPOILT                                                                                 \
    SPOILT(cell_step, CELL, "cell_step.step", wish->cell_step.step = 0)                            \
    SPOILT(cell_step_above, CELL, "cell_step.step", wish->cell_step.step = 4)                      \
    SPOILT(cell_absent, CELL, "cell_step.cell: absent", wish->cell_step.cell = NULL)               \
    SPOILT(cell_verdict, CELL, "cell.verdict", wish->cell.verdict = WORD("nests"))                 \
    SPOILT(cell_arm, CELL, "cell.arm", wish->cell.arm = ARM_COUNT)                                 \
    SPOILT(cell_nul, CELL, "cell.vendor", wish->cell.vendor = NUL_BYTES("co\0dex"))                \
    SPOILT(cell_long, CELL, "cell.vendor", wish->cell.vendor = BYTES(too_long))                    \
    SPOILT(cell_why_long, CELL, "cell.why", wish->cell.why = BYTES(too_long))                      \
    SPOILT(arm_step, ARM, "arm_step.step", wish->arm_step.step = 0)                                \
    SPOILT(arm_absent, ARM, "arm_step.arm: absent", wish->arm_step.arm = NULL)                     \
    SPOILT(arm_number, ARM, "arm.arm", wish->arm.arm = ARM_COUNT)                                  \
    SPOILT(arm_outcome, ARM, "arm.outcome", wish->arm.outcome = WORD("HELD"))                      \
    SPOILT(arm_words, ARM, "arm_step.argv", wish->arm_step.n_argv = 65)                            \
    SPOILT(arm_word_nul, ARM, "arm_step.argv", wish->argv[1] = NUL_BYTES("a\0b"))                  \
    SPOILT(arm_output, ARM, "arm.output", wish->arm.output = BYTES(too_long))                      \
    SPOILT(matrix_what, MATRIX, "matrix.what", wish->matrix.what = 0)                              \
    SPOILT(matrix_what_above, MATRIX, "matrix.what", wish->matrix.what = 4)                        \
    SPOILT(matrix_vendor, MATRIX, "matrix.vendor", wish->matrix.vendor = BYTES(too_long))

#define SPOILT(name, body, field, act)                                                             \
    static void spoil_##name(struct wish *wish)                                                    \
    {                                                                                              \
        act;                                                                                       \
    }
ALL_SPOILT
#undef SPOILT

static void what_is_malformed_is_refused_by_name(void **state)
{
    static const struct {
        const char *name, *field;
        Saphan__V1__ClientFrame__BodyCase body;
        void (*spoil)(struct wish *wish);
    } all[] = {
#define SPOILT(name, body, field, act) {#name, field, body, spoil_##name},
        ALL_SPOILT
#undef SPOILT
    };

    (void)state;
    memset(too_long, 'x', sizeof(too_long) - 1);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct wish wish;
        struct ask ask;
        struct refusal refusal;

        fill(&wish, all[i].body); /* control: unspoilt, it goes */
        assert_int_equal(decode_wish(&wish, &ask, &refusal), 0);
        ask_done(&ask);
        fill(&wish, all[i].body);
        all[i].spoil(&wish);
        if (decode_wish(&wish, &ask, &refusal) != DECODE_E_REFUSED ||
            !strstr(refusal.detail, all[i].field))
            fail_msg("%s: wanted %s, found %s", all[i].name, all[i].field, refusal.detail);
    }
}

/* ---- what saphand answers ---- */

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

static int encode_fixed(struct seam_writer *writer, const void *fixed)
{
    struct seam_message message = {
        .header = writer->header, .fixed = fixed, .strings = writer->strings};
    int r = encode_answer(&message, 5, &outbox);

    seam_writer_done(writer);
    return r;
}

static Saphan__V1__ServerFrame *take(void)
{
    uint32_t length = frame_get_length(outbox.bytes + outbox.start);
    Saphan__V1__ServerFrame *frame =
        saphan__v1__server_frame__unpack(NULL, length, outbox.bytes + outbox.start + FRAME_HEADER);

    assert_non_null(frame);
    outbox.start += FRAME_HEADER + length;
    assert_int_equal(frame->request, 5);
    return frame;
}

#define drop(frame) saphan__v1__server_frame__free_unpacked(frame, NULL)

static void the_machine_row_and_its_claims(void **state)
{
    struct seam_machine machine = {.at_ms = 3, .took_us = 4, .row = 5};
    struct seam_property property = {.state = RUNG_NEVER_ASKED};
    struct seam_writer writer;
    Saphan__V1__ServerFrame *frame;

    (void)state;
    seam_writer_init(&writer, SEAM_MACHINE, 0);
    machine.kernel = seam_put_text(&writer, "6.1");
    machine.host = seam_put_text(&writer, "h\n"); /* a string of the wire is text */
    machine.command = seam_put_text(&writer, "saphan machine probe-confinement");
    machine.distribution = machine.boot_id = machine.version = SEAM_TEXT_ABSENT;
    assert_int_equal(encode_fixed(&writer, &machine), 0);
    frame = take();
    assert_int_equal(frame->body_case, SAPHAN__V1__SERVER_FRAME__BODY_MACHINE);
    assert_true(frame->machine->row == 5 && frame->machine->at_ms == 3);
    assert_int_equal(frame->machine->took_us, 4);
    assert_string_equal(frame->machine->kernel, "6.1");
    assert_string_equal(frame->machine->host, "h\\x0a");
    assert_string_equal(frame->machine->boot_id, "");
    assert_string_equal(frame->machine->command, "saphan machine probe-confinement");
    drop(frame);
    seam_writer_init(&writer, SEAM_PROPERTY, 0);
    property.slug = seam_put_text(&writer, "backend-jailed");
    property.meaning = property.detail = seam_put_text(&writer, "m");
    assert_int_equal(encode_fixed(&writer, &property), 0);
    frame = take();
    assert_int_equal(frame->body_case, SAPHAN__V1__SERVER_FRAME__BODY_PROPERTY);
    assert_string_equal(frame->property->slug, "backend-jailed");
    assert_string_equal(frame->property->state, "never-asked");
    drop(frame);
    property.state = RUNG_BROKEN + 1;
    seam_writer_init(&writer, SEAM_PROPERTY, 0);
    property.slug = property.meaning = property.detail = SEAM_TEXT_ABSENT;
    assert_int_equal(encode_fixed(&writer, &property), -EINVAL);
}

static void put_all_texts(struct seam_writer *writer, struct seam_text *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        texts[i] = SEAM_TEXT_ABSENT;
    texts[0] = seam_put_text(writer, "first");
    texts[count - 1] = seam_put_text(writer, "last \xff\n");
}

static void cells_and_arms(void **state)
{
    struct seam_cell cell = {.cell = 7, .verdict = CELL_HANGS, .arm = ARM_TURN, .newest = 2};
    struct seam_arm arm = {.cell = 7, .leg = 8, .arm = ARM_ECHO, .outcome = OUTCOME_SILENT};
    struct seam_writer writer;
    Saphan__V1__ServerFrame *frame;

    (void)state;
    seam_writer_init(&writer, SEAM_CELL, 0);
    put_all_texts(&writer, cell.texts, CELL_TEXT_COUNT);
    assert_int_equal(encode_fixed(&writer, &cell), 0);
    frame = take();
    assert_int_equal(frame->body_case, SAPHAN__V1__SERVER_FRAME__BODY_CELL);
    assert_string_equal(frame->cell->verdict, "HANGS");
    assert_true(frame->cell->newest && !frame->cell->silent && frame->cell->arm == 4);
    assert_memory_equal(frame->cell->vendor.data, "first", 5);
    assert_int_equal(frame->cell->stale.len, 7); /* bytes come over as they are */
    assert_int_equal(frame->cell->why.len, 0);
    drop(frame);
    seam_writer_init(&writer, SEAM_ARM, 0);
    put_all_texts(&writer, arm.texts, ARM_TEXT_COUNT);
    arm.argv = seam_put_list(&writer, NULL, 0);
    arm.status = -1;
    assert_int_equal(encode_fixed(&writer, &arm), 0);
    frame = take();
    assert_int_equal(frame->body_case, SAPHAN__V1__SERVER_FRAME__BODY_ARM);
    assert_string_equal(frame->arm->outcome, "SILENT");
    assert_true(frame->arm->cell == 7 && frame->arm->leg == 8 && frame->arm->status == -1);
    assert_memory_equal(frame->arm->command.data, "first", 5);
    assert_int_equal(frame->arm->events.len, 7);
    drop(frame);
}

/* The warden's own mistakes do not reach a client as something else. */
static void what_is_none_is_not_encoded(void **state)
{
    struct seam_cell cells[] = {{.verdict = CELL_INDETERMINATE + 1}, {.arm = ARM_COUNT}};
    struct seam_arm arms[] = {{.outcome = OUTCOME_COUNT}, {.arm = ARM_COUNT}};
    struct seam_writer writer;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        seam_writer_init(&writer, SEAM_CELL, 0);
        put_all_texts(&writer, cells[i].texts, CELL_TEXT_COUNT);
        assert_int_equal(encode_fixed(&writer, &cells[i]), -EINVAL);
        seam_writer_init(&writer, SEAM_ARM, 0);
        put_all_texts(&writer, arms[i].texts, ARM_TEXT_COUNT);
        arms[i].argv = seam_put_list(&writer, NULL, 0);
        assert_int_equal(encode_fixed(&writer, &arms[i]), -EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asking_comes_over_whole),
        cmocka_unit_test(a_cell_comes_over_whole),
        cmocka_unit_test(an_arm_comes_over_whole),
        cmocka_unit_test(what_is_malformed_is_refused_by_name),
        cmocka_unit_test_setup_teardown(the_machine_row_and_its_claims, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cells_and_arms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_none_is_not_encoded, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("front matrix", tests, NULL, NULL);
}
