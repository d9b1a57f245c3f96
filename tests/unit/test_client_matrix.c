/* Cells and arms between libsaphan's structs and the wire: what was put is what is read, whole. */
#include "cell_texts.h"
#include "matrix_wire.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char texts[64][64];
static size_t n_texts, refuse_at;

/* As answer.c's, but for the memory; fails at the REFUSE_ATth text (1...). */
static int read_text(void *context, const ProtobufCBinaryData *bytes, const char **ret)
{
    assert_ptr_equal(context, texts);
    if (n_texts + 1 == refuse_at)
        return -ENOMEM;
    assert_true(n_texts < 64 && bytes->len < 64);
    if (bytes->len > 0)
        memcpy(texts[n_texts], bytes->data, bytes->len);
    texts[n_texts][bytes->len] = '\0';
    *ret = texts[n_texts++];
    return 0;
}

static int start(void **state)
{
    (void)state;
    n_texts = refuse_at = 0;
    return 0;
}

#define FIELDS_FIRST offsetof(struct saphan_cell, vendor)

/* The NUMBERth text of CELL: they stand one behind the other. */
static const char **text_of(struct saphan_cell *cell, size_t number)
{
    return (const char **)(void *)((char *)cell + FIELDS_FIRST) + number;
}

static void a_cell_goes_and_comes(void **state)
{
    static char names[CELL_TEXT_COUNT][16];
    struct saphan_cell cell = {.cell = 7, .verdict = "HANGS", .silent = true, .arm = 4};
    Saphan__V1__Cell wire, *there;
    struct saphan_event event = {0};
    static uint8_t bytes[4096];
    size_t size;

    (void)state;
    cell.begun_ms = -1;
    cell.ended_ms = 9;
    for (size_t i = 0; i < CELL_TEXT_COUNT; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "text %zu \xff", i);
        *text_of(&cell, i) = i == 1 ? NULL : names[i];
    }
    cells_put_cell(&cell, &wire);
    size = saphan__v1__cell__pack(&wire, bytes);
    there = saphan__v1__cell__unpack(NULL, size, bytes);
    assert_non_null(there);
    assert_int_equal(cells_read_cell(read_text, texts, there, &event), 0);
    assert_int_equal(event.kind, SAPHAN_EVENT_CELL);
    assert_true(event.cell.cell == 7 && event.cell.silent && event.cell.arm == 4);
    assert_true(event.cell.begun_ms == -1 && event.cell.ended_ms == 9 && !event.cell.newest);
    assert_string_equal(event.cell.verdict, "HANGS");
    for (size_t i = 0; i < CELL_TEXT_COUNT; i++)
        assert_string_equal(*text_of(&event.cell, i), i == 1 ? "" : names[i]);
    saphan__v1__cell__free_unpacked(there, NULL);
}

static void an_arm_goes_and_comes(void **state)
{
    const struct saphan_arm arm = {.cell = 7,
        .leg = 8,
        .arm = 5,
        .outcome = "held",
        .status = -1,
        .begun_ms = 1,
        .ended_ms = 2,
        .command = "codex exec",
        .output = "DONE\n"};
    Saphan__V1__Arm wire, *there;
    struct saphan_event event = {0};
    static uint8_t bytes[4096];
    size_t size;

    (void)state;
    cells_put_arm(&arm, &wire);
    size = saphan__v1__arm__pack(&wire, bytes);
    there = saphan__v1__arm__unpack(NULL, size, bytes);
    assert_non_null(there);
    assert_int_equal(cells_read_arm(read_text, texts, there, &event), 0);
    assert_int_equal(event.kind, SAPHAN_EVENT_ARM);
    assert_true(event.arm.cell == 7 && event.arm.leg == 8 && event.leg == 8);
    assert_true(event.arm.arm == 5 && event.arm.status == -1);
    assert_true(event.arm.begun_ms == 1 && event.arm.ended_ms == 2);
    assert_string_equal(event.arm.outcome, "held");
    assert_string_equal(event.arm.command, "codex exec");
    assert_string_equal(event.arm.output, "DONE\n");
    assert_string_equal(event.arm.detail, "");
    assert_string_equal(event.arm.events, "");
    saphan__v1__arm__free_unpacked(there, NULL);
}

static void no_memory_is_passed_on(void **state)
{
    Saphan__V1__Cell cell = SAPHAN__V1__CELL__INIT;
    Saphan__V1__Arm arm = SAPHAN__V1__ARM__INIT;
    struct saphan_event event = {0};

    (void)state;
    refuse_at = CELL_TEXT_COUNT;
    assert_int_equal(cells_read_cell(read_text, texts, &cell, &event), -ENOMEM);
    n_texts = 0;
    refuse_at = ARM_TEXT_COUNT;
    assert_int_equal(cells_read_arm(read_text, texts, &arm, &event), -ENOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_cell_goes_and_comes, start),
        cmocka_unit_test_setup(an_arm_goes_and_comes, start),
        cmocka_unit_test_setup(no_memory_is_passed_on, start),
    };

    return cmocka_run_group_tests_name("client matrix", tests, NULL, NULL);
}
