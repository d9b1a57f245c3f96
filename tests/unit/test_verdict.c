/* test_verdict.c - each way a leg can end, and what is said of it. */
#include "own.h"
#include "verdict.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* As waitpid(2) encodes them on Linux. */
static int32_t status(int code)
{
    return code << 8;
}

static int32_t signalled(int number, bool core)
{
    return number | (core ? 0x80 : 0);
}

static struct verdict compose(struct ending ending)
{
    struct verdict verdict;

    verdict_compose(&ending, &verdict);
    return verdict;
}

static bool says(const struct verdict *verdict, enum reason reason)
{
    for (uint32_t i = 0; i < verdict->n_reasons; i++) {
        if (verdict->reasons[i] == reason)
            return true;
    }
    return false;
}

static void every_exit_status(void **state)
{
    for (int code = 0; code <= 255; code++) {
        struct verdict verdict =
            compose((struct ending){.exited = true, .wait_status = status(code)});

        assert_int_equal(verdict.colour, code ? COLOUR_RED : COLOUR_GREEN);
        assert_int_equal(verdict.client_status, code);
        assert_int_equal(verdict.n_reasons, code ? 1 : 0);
        if (code)
            assert_int_equal(verdict.reasons[0], REASON_EXIT_STATUS);
    }
}

static void every_signal(void **state)
{
    for (int number = 1; number < 65; number++) {
        for (int core = 0; core <= 1; core++) {
            struct verdict verdict = compose(
                (struct ending){.exited = true, .wait_status = signalled(number, core != 0)});

            assert_int_equal(verdict.colour, COLOUR_RED);
            assert_int_equal(verdict.client_status, 128 + number);
            assert_int_equal(verdict.n_reasons, 1);
            assert_int_equal(verdict.reasons[0], REASON_KILLED_BY_SIGNAL);
        }
    }
}

static void our_own_kill(void **state)
{
    static const struct {
        enum reason killed;
        int32_t client_status;
    } rows[] = {
        {REASON_WALL_TIME, 124},
        {REASON_KILLED_BY_REQUEST, 128 + SIGKILL},
        {REASON_CLIENT_GONE, 128 + SIGKILL},
        {REASON_DAEMON_STOPPED, 128 + SIGKILL},
    };

    for (size_t i = 0; i < array_size(rows); i++) {
        const struct ending endings[] = {
            {.exited = true, .wait_status = signalled(SIGKILL, false), .killed = rows[i].killed},
            {.killed = rows[i].killed},
            {.stub_lost = true, .killed = rows[i].killed},
        };

        for (size_t j = 0; j < array_size(endings); j++) {
            struct verdict verdict = compose(endings[j]);

            assert_int_equal(verdict.colour, COLOUR_RED);
            assert_int_equal(verdict.n_reasons, 1);
            assert_int_equal(verdict.reasons[0], rows[i].killed);
            assert_int_equal(verdict.client_status, rows[i].client_status);
        }
    }
}

static void a_status_given_before_our_kill_is_said(void **state)
{
    struct verdict verdict = compose((struct ending){
        .exited = true, .wait_status = status(3), .killed = REASON_KILLED_BY_REQUEST});

    assert_int_equal(verdict.reasons[0], REASON_KILLED_BY_REQUEST);
    assert_true(says(&verdict, REASON_EXIT_STATUS));
    assert_int_equal(verdict.client_status, 3);
    verdict = compose(
        (struct ending){.exited = true, .wait_status = status(0), .killed = REASON_WALL_TIME});
    assert_int_equal(verdict.colour, COLOUR_RED);
    assert_int_equal(verdict.client_status, 124);
}

static void a_liar_that_exits_0(void **state)
{
    static const enum reason wrong[] = {REASON_ARTEFACT_ABSENT, REASON_ARTEFACT_TOO_SMALL,
        REASON_ARTEFACT_NOT_REGULAR, REASON_ARTEFACT_UNCHANGED, REASON_ARTEFACT_WRONG_HASH,
        REASON_ARTEFACT_PRIVATE};

    for (size_t i = 0; i < array_size(wrong); i++) {
        struct ending ending = {.exited = true, .n_artefacts = 3, .artefacts = {0, wrong[i], 0}};
        struct verdict verdict = compose(ending);

        assert_int_equal(verdict.colour, COLOUR_RED);
        assert_int_equal(verdict.client_status, 112);
        assert_int_equal(verdict.n_reasons, 1);
        assert_int_equal(verdict.reasons[0], wrong[i]);
        ending.wait_status = status(9);
        verdict = compose(ending);
        assert_int_equal(verdict.client_status, 9);
        assert_int_equal(verdict.n_reasons, 2);
    }
}

static void the_kernels_own_limits(void **state)
{
    struct verdict verdict = compose(
        (struct ending){.exited = true, .wait_status = signalled(SIGKILL, false), .oom_kills = 1});

    assert_int_equal(verdict.reasons[0], REASON_OUT_OF_MEMORY);
    assert_int_equal(verdict.client_status, 137);
    /* A child was killed, the first process did not mind. */
    verdict = compose((struct ending){.exited = true, .oom_kills = 2});
    assert_int_equal(verdict.colour, COLOUR_RED);
    assert_int_equal(verdict.client_status, 112);
    /* The kernel took pid 1 itself: that is explained. */
    verdict = compose((struct ending){.stub_lost = true, .oom_kills = 1});
    assert_int_equal(verdict.colour, COLOUR_RED);
    assert_int_equal(verdict.n_reasons, 1);
    assert_int_equal(verdict.client_status, 137);
    verdict = compose((struct ending){.exited = true, .wait_status = status(2), .tasks_hits = 5});
    assert_int_equal(verdict.reasons[0], REASON_TASKS_LIMIT);
    assert_int_equal(verdict.reasons[1], REASON_EXIT_STATUS);
    assert_int_equal(verdict.client_status, 2);
    verdict = compose((struct ending){
        .exited = true, .wait_status = signalled(SIGKILL, false), .output_exceeded = true});
    assert_int_equal(verdict.n_reasons, 1);
    assert_int_equal(verdict.reasons[0], REASON_OUTPUT_LIMIT);
    assert_int_equal(verdict.client_status, 137);
    verdict = compose((struct ending){.output_exceeded = true, .killed = REASON_OUTPUT_LIMIT});
    assert_int_equal(verdict.n_reasons, 1);
}

static void what_we_do_not_know(void **state)
{
    const struct ending endings[] = {
        {.stub_lost = true},
        {.exited = false},
        {.exited = true, .wait_status = 0x137f}, /* "stopped": no end at all */
        {.exited = true, .wait_status = 0xffff}, /* "continued" */
        {.exited = true, .checker_failed = true},
        {.exited = true, .wait_status = 3 << 8, .checker_failed = true},
        {.killed = REASON_DAEMON_DIED},
        {.killed = REASON_WALL_TIME, .checker_failed = true},
        {.stub_lost = true, .n_artefacts = 1, .artefacts = {REASON_ARTEFACT_ABSENT}},
    };

    for (size_t i = 0; i < array_size(endings); i++) {
        struct verdict verdict = compose(endings[i]);

        assert_int_equal(verdict.colour, COLOUR_INDETERMINATE);
        assert_int_equal(verdict.client_status, 125);
        assert_true(verdict.n_reasons > 0);
    }
}

static void the_same_reason_is_said_once(void **state)
{
    struct ending ending = {.exited = true, .n_artefacts = 400};
    struct verdict verdict;

    for (size_t i = 0; i < array_size(ending.artefacts); i++)
        ending.artefacts[i] = i % 2 ? REASON_ARTEFACT_ABSENT : (enum reason)(REASON_COUNT + 5);
    verdict = compose(ending);
    assert_int_equal(verdict.n_reasons, 1);
    assert_int_equal(verdict.reasons[0], REASON_ARTEFACT_ABSENT);
}

/* Whatever the ending: GREEN is status 0 of an exit 0 without any reason; nothing else is 0. */
static void green_is_earned(void **state)
{
    static const enum reason kills[] = {REASON_NONE, REASON_WALL_TIME, REASON_KILLED_BY_REQUEST};

    for (unsigned int bits = 0; bits < 1U << 9; bits++) {
        for (size_t k = 0; k < array_size(kills); k++) {
            struct ending ending = {
                .exited = bits & 1,
                .wait_status = bits & 2 ? status(1) : 0,
                .stub_lost = bits & 4,
                .killed = kills[k],
                .oom_kills = bits & 8 ? 1 : 0,
                .tasks_hits = bits & 16 ? 1 : 0,
                .output_exceeded = bits & 32,
                .checker_failed = bits & 64,
                .n_artefacts = bits & 128 ? 1 : 0,
                .artefacts = {bits & 256 ? REASON_ARTEFACT_ABSENT : REASON_NONE},
            };
            struct verdict verdict = compose(ending);
            bool good = (bits & (1 | 2 | 4 | 8 | 16 | 32 | 64)) == 1 && k == 0 &&
                        (bits & (128 | 256)) != (128 | 256);

            assert_int_equal(verdict.colour == COLOUR_GREEN, good);
            assert_int_equal(verdict.client_status == 0, good);
            assert_int_equal(verdict.n_reasons == 0, good);
            assert_true(verdict.colour != COLOUR_UNSET && verdict.colour != COLOUR_REFUSED);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_exit_status),
        cmocka_unit_test(every_signal),
        cmocka_unit_test(our_own_kill),
        cmocka_unit_test(a_status_given_before_our_kill_is_said),
        cmocka_unit_test(a_liar_that_exits_0),
        cmocka_unit_test(the_kernels_own_limits),
        cmocka_unit_test(what_we_do_not_know),
        cmocka_unit_test(the_same_reason_is_said_once),
        cmocka_unit_test(green_is_earned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
