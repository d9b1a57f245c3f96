/* test_matrix.c - what the arms of a cell let say, and what they do not. */
#include "matrix.h"

#include "own.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void judge(const char *outcomes, struct cell_finding *ret)
{
    static const char letters[] = "BRHLSWXFTU"; /* enum arm_outcome, in its order */
    struct arm_facts arms[ARM_COUNT] = {0};

    assert_int_equal(strlen(outcomes), ARM_COUNT);
    for (int i = 0; i < ARM_COUNT; i++) {
        arms[i].outcome = (enum arm_outcome)(strchr(letters, outcomes[i]) - letters);
        arms[i].detail = "clone EPERM";
    }
    cell_judge(arms, ret);
}

static const struct {
    const char *outcomes; /* of arms 0 to 5 */
    enum cell_verdict verdict;
    enum arm arm;
    bool silent;
    const char *why;
} table[] = {
    {"HHHHHH", CELL_NESTS, ARM_TURN, false, "all arms held"},
    {"HHHHSH", CELL_COLLIDES, ARM_TURN, true, "SILENT: "},
    {"HHHHLH", CELL_COLLIDES, ARM_TURN, false, "loud: "},
    {"HHHHWH", CELL_COLLIDES, ARM_TURN, false, "went on without it"},
    {"HHHHXH", CELL_HANGS, ARM_TURN, false, "it hung inside"},
    /* alike with and without: not ours, and not said to be the vendor's */
    {"HHHHLL", CELL_INDETERMINATE, ARM_CONTROL, false, "the boundary adds nothing here"},
    {"HHHHSS", CELL_INDETERMINATE, ARM_CONTROL, false, "the boundary adds nothing here"},
    {"HHHHXX", CELL_INDETERMINATE, ARM_CONTROL, false, "the boundary adds nothing here"},
    {"HHHHLX", CELL_INDETERMINATE, ARM_CONTROL, false, "control 5 (control) hung while"},
    {"HHHHHL", CELL_INDETERMINATE, ARM_CONTROL, false, "control 5 (control) failed while"},
    {"HHHHHF", CELL_INDETERMINATE, ARM_CONTROL, false, "control 5 (control) refused while"},
    {"HHHHSF", CELL_INDETERMINATE, ARM_CONTROL, false, "control 5 (control) refused while"},
    /* a baseline that fails says nothing of the vendor, whatever the vendor did */
    {"LUUUUU", CELL_INDETERMINATE, ARM_ECHO, false, "control 0 (echo) failed"},
    {"FUUUUU", CELL_INDETERMINATE, ARM_ECHO, false, "control 0 (echo) refused"},
    {"HLUUUU", CELL_INDETERMINATE, ARM_WRITE, false, "control 1 (write) failed"},
    {"HHLUUU", CELL_INDETERMINATE, ARM_OUTSIDE, false, "control 2 (outside) failed"},
    {"HHHLUU", CELL_INDETERMINATE, ARM_GRANDCHILD, false, "control 3 (grandchild) failed"},
    {"LHHHHH", CELL_INDETERMINATE, ARM_ECHO, false, "control 0"},
    /* a kill at any point */
    {"BBBBBB", CELL_INDETERMINATE, ARM_ECHO, false, "arm 0 (echo) was never begun"},
    {"RBBBBB", CELL_INDETERMINATE, ARM_ECHO, false, "interrupted in arm 0"},
    {"HHRBBB", CELL_INDETERMINATE, ARM_OUTSIDE, false, "interrupted in arm 2"},
    {"HHHHRB", CELL_INDETERMINATE, ARM_TURN, false, "interrupted in arm 4"},
    {"HHHHSR", CELL_INDETERMINATE, ARM_CONTROL, false, "interrupted in arm 5"},
    {"HHHHHB", CELL_INDETERMINATE, ARM_CONTROL, false, "arm 5 (control) was never begun"},
    {"HHHHTH", CELL_INDETERMINATE, ARM_TURN, false, "means to know were lost"},
    {"HHHHFH", CELL_INDETERMINATE, ARM_TURN, false, "never started"},
};

static void what_the_arms_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < array_size(table); i++) {
        struct cell_finding found;

        judge(table[i].outcomes, &found);
        if (found.verdict != table[i].verdict || found.arm != table[i].arm ||
            found.silent != table[i].silent || !strstr(found.why, table[i].why))
            fail_msg("%s: %s, arm %d, %s", table[i].outcomes, cell_verdict_name(found.verdict),
                found.arm, found.why);
    }
}

/* Whatever the arms: NESTS only if each of them held, COLLIDES and HANGS only if all controls did.
 */
static void nothing_is_said_without_its_controls(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < 1000000; number++) {
        struct arm_facts arms[ARM_COUNT] = {0};
        struct cell_finding found;
        uint32_t rest = number;
        int held = 0, controls = 0;

        for (int i = 0; i < ARM_COUNT; i++, rest /= OUTCOME_COUNT) {
            arms[i].outcome = (enum arm_outcome)(rest % OUTCOME_COUNT);
            held += arms[i].outcome == OUTCOME_HELD;
            controls += i != ARM_TURN && arms[i].outcome == OUTCOME_HELD;
        }
        cell_judge(arms, &found);
        assert_true(found.verdict != CELL_BLANK && found.why[0] != '\0');
        assert_true((found.verdict == CELL_NESTS) == (held == ARM_COUNT));
        if (found.verdict == CELL_COLLIDES || found.verdict == CELL_HANGS)
            assert_int_equal(controls, ARM_COUNT - 1);
    }
}

static void what_a_leg_was(void **state)
{
    static const struct {
        enum colour colour;
        int wait_status;
        enum reason reasons[2];
        uint32_t n;
        enum arm_outcome outcome;
    } legs[] = {
        {COLOUR_GREEN, 0, {0}, 0, OUTCOME_HELD},
        {COLOUR_RED, 0x100, {REASON_EXIT_STATUS}, 1, OUTCOME_LOUD},
        {COLOUR_RED, 9, {REASON_KILLED_BY_SIGNAL}, 1, OUTCOME_LOUD},
        {COLOUR_RED, 0, {REASON_ARTEFACT_ABSENT}, 1, OUTCOME_SILENT},
        {COLOUR_RED, 0, {REASON_NESTED_SANDBOX, REASON_ARTEFACT_ABSENT}, 2, OUTCOME_SILENT},
        {COLOUR_RED, 0, {REASON_NESTED_SANDBOX}, 1, OUTCOME_WITHOUT},
        {COLOUR_RED, 0x100, {REASON_NESTED_SANDBOX, REASON_EXIT_STATUS}, 2, OUTCOME_LOUD},
        {COLOUR_RED, 9, {REASON_WALL_TIME}, 1, OUTCOME_HUNG},
        {COLOUR_RED, 9, {REASON_CLIENT_GONE}, 1, OUTCOME_LOST},
        {COLOUR_RED, -1, {REASON_DAEMON_STOPPED}, 1, OUTCOME_LOST},
        {COLOUR_REFUSED, -1, {REASON_CLAIM_UNBACKED}, 1, OUTCOME_REFUSED},
        {COLOUR_INDETERMINATE, -1, {REASON_DAEMON_DIED}, 1, OUTCOME_LOST},
        {COLOUR_UNSET, -1, {0}, 0, OUTCOME_LOST},
    };

    (void)state;
    for (size_t i = 0; i < array_size(legs); i++) {
        struct arm_leg leg = {
            .colour = legs[i].colour, .wait_status = legs[i].wait_status, .n_reasons = legs[i].n};

        memcpy(leg.reasons, legs[i].reasons, sizeof(legs[i].reasons));
        if (arm_judge(&leg) != legs[i].outcome)
            fail_msg("leg %zu: %s", i, outcome_name(arm_judge(&leg)));
    }
}

static void what_makes_a_cell_stale(void **state)
{
    const struct cell_ground then = {"6.18 x", "0.1.0", "codex 1", "1:2:3"};
    struct cell_ground now = then;
    char why[CELL_STALE_MAX];

    (void)state;
    assert_true(cell_is_fresh(&then, &now, why));
    assert_string_equal(why, "");
    now.kernel = "6.19 x";
    assert_false(cell_is_fresh(&then, &now, why));
    assert_non_null(strstr(why, "kernel"));
    now = then;
    now.version = "0.2.0";
    assert_false(cell_is_fresh(&then, &now, why));
    now = then;
    now.vendor_version = "codex 2";
    assert_false(cell_is_fresh(&then, &now, why));
    now = then;
    now.program = "1:2:4";
    assert_false(cell_is_fresh(&then, &now, why));
    now = (struct cell_ground){.kernel = "6.18 x", .version = "0.1.0"};
    assert_true(cell_is_fresh(&then, &now, why)); /* what is not known makes nothing stale */
}

static void words(void **state)
{
    enum arm_outcome outcome;
    enum cell_verdict verdict;

    (void)state;
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        assert_int_equal(outcome_parse(outcome_name((enum arm_outcome)i), &outcome), 0);
        assert_int_equal(outcome, i);
    }
    for (int i = CELL_BLANK; i <= CELL_INDETERMINATE; i++) {
        assert_int_equal(cell_verdict_parse(cell_verdict_name((enum cell_verdict)i), &verdict), 0);
        assert_int_equal(verdict, i);
    }
    assert_int_equal(outcome_parse("Held", &outcome), -EINVAL);
    assert_int_equal(cell_verdict_parse("nests", &verdict), -EINVAL);
    for (int i = 0; i < ARM_COUNT; i++)
        assert_true(arm_meaning((enum arm)i)[0] != '\0' && arm_slug((enum arm)i)[0] != '?');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_arms_say),
        cmocka_unit_test(nothing_is_said_without_its_controls),
        cmocka_unit_test(what_a_leg_was),
        cmocka_unit_test(what_makes_a_cell_stale),
        cmocka_unit_test(words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
