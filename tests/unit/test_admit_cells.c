/* test_admit_cells.c - evidence before admission, and what a measuring leg lifts. */
#include "admit_fixture.h"

#define EVIDENCE                                                                                   \
    "[allow a]\nUser=1000\nBoundary=domain\nView=minimal\nNet=none\nVendor=*\nRead=/\nWrite=/\n"   \
    "Require-Cell=NESTS\n"

/* The cells that a rule with Require-Cell=NESTS meets, and what it says of each. */
static void evidence_before_admission(void **state)
{
    static const struct {
        struct cell_standing cell;
        enum reason reason;
        const char *detail;
    } table[] = {
        {{.cell = 0, .sandbox = "off"}, REASON_CELL_UNMEASURED, "nobody looked"},
        {{.cell = 7, .verdict = CELL_NESTS, .sandbox = "off"}, REASON_NONE, NULL},
        {{.cell = 7, .verdict = CELL_NESTS, .sandbox = "off", .stale = "the kernel was x"},
            REASON_CELL_UNMEASURED, "the kernel was x"},
        {{.cell = 7, .verdict = CELL_COLLIDES, .sandbox = "off"}, REASON_CELL_COLLIDES, "COLLIDES"},
        {{.cell = 7, .verdict = CELL_HANGS, .sandbox = "off"}, REASON_CELL_COLLIDES, "HANGS"},
        {{.cell = 7, .verdict = CELL_INDETERMINATE, .sandbox = "off"}, REASON_CELL_UNMEASURED,
            "INDETERMINATE"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct fixture f;
        struct decision *decision;

        fixture_start(&f, EVIDENCE);
        f.request.cell = &table[i].cell;
        decision = fixture_decide(&f);
        if (table[i].reason == REASON_NONE) {
            assert_int_equal(decision->n_refusals, 0);
        } else {
            assert_int_equal(decision->n_refusals, 1);
            assert_int_equal(decision->refusals[0].reason, table[i].reason);
            assert_non_null(strstr(decision->refusals[0].detail, table[i].detail));
            assert_non_null(strstr(decision->refusals[0].detail,
                "saphan matrix measure --vendor proc --boundary domain"));
        }
        fixture_end(&f);
    }
}

/* A measuring leg lifts the refusal for its vendor's sandbox, for whom the rule lets, and no other.
 */
static void what_a_measuring_leg_lifts(void **state)
{
    static const struct nesting nested = {
        .reason = REASON_NESTED_SANDBOX_REQUESTED, .detail = "the command"};
    struct fixture f;

    (void)state;
    fixture_start(&f, EVIDENCE "Measure=yes\n");
    f.request.nesting = &nested;
    f.request.cell = &(const struct cell_standing){.sandbox = "on"};
    f.request.measure = true;
    assert_int_equal(fixture_decide(&f)->n_refusals, 0);
    f.machine.rungs[RUNG_LANDLOCK].state = RUNG_REFUSED; /* the boundary itself is never lifted */
    assert_true(fixture_decide(&f)->n_refusals > 0);
    assert_int_equal(f.decision.refusals[0].reason, REASON_CLAIM_UNBACKED);
    fixture_end(&f);
    fixture_start(&f, EVIDENCE);
    f.request.nesting = &nested;
    f.request.measure = true;
    assert_int_equal(fixture_decide(&f)->n_refusals, 2);
    assert_int_equal(f.decision.refusals[0].reason, REASON_NESTED_SANDBOX_REQUESTED);
    assert_int_equal(f.decision.refusals[1].reason, REASON_MEASURE_NOT_ALLOWED);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_before_admission),
        cmocka_unit_test(what_a_measuring_leg_lifts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
