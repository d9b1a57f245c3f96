/* test_rungs.c - the tables of words, and which rungs back which claim. */
#include "own.h"
#include "reasons.h"
#include "rungs.h"
#include "terms.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static uint64_t bit(enum rung_id rung)
{
    return UINT64_C(1) << rung;
}

static struct machine_row all_hold(void)
{
    struct machine_row machine = {0};

    for (size_t i = 0; i < RUNG_COUNT; i++)
        machine.rungs[i].state = RUNG_HOLDS;
    return machine;
}

static void each_reason_has_a_slug_a_meaning_and_a_remedy(void **state)
{
    for (uint32_t i = 1; i < REASON_COUNT; i++) {
        const struct reason_entry *entry = reason_entry(i);
        enum reason back = REASON_NONE;

        assert_true(entry->slug[0] && entry->meaning[0] && entry->remedy[0]);
        assert_int_equal(strspn(entry->slug, "abcdefghijklmnopqrstuvwxyz-"), strlen(entry->slug));
        assert_true(entry->colour == COLOUR_RED || entry->colour == COLOUR_REFUSED ||
                    entry->colour == COLOUR_INDETERMINATE || entry->colour == COLOUR_NOTE);
        /* Also: no slug stands twice. */
        assert_int_equal(reason_parse(entry->slug, &back), 0);
        assert_int_equal(back, i);
    }
}

static void what_is_no_reason(void **state)
{
    enum reason reason = REASON_WALL_TIME;

    assert_string_equal(reason_entry(REASON_NONE)->slug, "");
    assert_int_equal(reason_entry(REASON_NONE)->colour, COLOUR_UNSET);
    assert_ptr_equal(reason_entry(REASON_COUNT), reason_entry(REASON_NONE));
    assert_ptr_equal(reason_entry(UINT32_MAX), reason_entry(REASON_NONE));
    assert_int_equal(reason_parse("", &reason), -EINVAL);
    assert_int_equal(reason_parse("wall-tim", &reason), -EINVAL);
    assert_int_equal(reason_parse("WALL-TIME", &reason), -EINVAL);
    assert_int_equal(reason, REASON_WALL_TIME);
}

static void rungs_and_their_slugs(void **state)
{
    enum rung_id rung = RUNG_PIDNS;

    for (unsigned int i = 0; i < RUNG_COUNT; i++) {
        assert_true(rung_meaning((enum rung_id)i)[0]);
        assert_int_equal(rung_parse(rung_slug((enum rung_id)i), &rung), 0);
        assert_int_equal(rung, i);
    }
    assert_int_equal(rung_parse("", &rung), -EINVAL);
    assert_int_equal(rung_parse("Userns", &rung), -EINVAL);
    assert_string_equal(rung_slug(RUNG_COUNT), "?");
    assert_string_equal(rung_meaning(RUNG_COUNT), "?");
    assert_string_equal(rung_state_name(RUNG_HOLDS), "holds");
    assert_string_equal(rung_state_name(RUNG_NEVER_ASKED), "never-asked");
    assert_string_equal(rung_state_name((enum rung_state)99), "?");
    assert_string_equal(claim_slug(CLAIM_EGRESS_CUT), "egress-cut");
    assert_string_equal(claim_slug(CLAIM_COUNT), "?");
    assert_string_equal(claim_meaning(CLAIM_COUNT), "?");
}

static void words_there_and_back(void **state)
{
    enum boundary boundary;
    enum view view;
    enum net net;

    for (unsigned int i = BOUNDARY_DOMAIN; i <= BOUNDARY_NONE; i++) {
        assert_int_equal(boundary_parse(boundary_name((enum boundary)i), &boundary), 0);
        assert_int_equal(boundary, i);
    }
    for (unsigned int i = VIEW_MINIMAL; i <= VIEW_HOST; i++) {
        assert_int_equal(view_parse(view_name((enum view)i), &view), 0);
        assert_int_equal(view, i);
    }
    for (unsigned int i = NET_NONE; i <= NET_LAST; i++) {
        assert_int_equal(net_parse(net_name((enum net)i), &net), 0);
        assert_int_equal(net, i);
    }
    assert_int_equal(boundary_parse("", &boundary), -EINVAL);
    assert_int_equal(view_parse("Host", &view), -EINVAL);
    assert_int_equal(net_parse("off", &net), -EINVAL);
    assert_string_equal(boundary_name(BOUNDARY_UNSET), "?");
    assert_string_equal(grant_kind_name((enum grant_kind)77), "?");
    assert_string_equal(grant_kind_name(GRANT_GIT_COMMON), "git-common");
    assert_string_equal(colour_name(COLOUR_INDETERMINATE), "INDETERMINATE");
}

static void where_all_holds_each_claim_is_backed(void **state)
{
    struct machine_row machine = all_hold();

    for (unsigned int i = 0; i < CLAIM_COUNT; i++) {
        uint64_t rungs = 0;
        enum rung_id missing = RUNG_COUNT;

        assert_int_equal(claim_back((enum claim_id)i, &machine, &rungs, &missing), 0);
        assert_true(rungs != 0);
        assert_int_equal(missing, RUNG_COUNT);
    }
}

static void where_nothing_holds_none_is(void **state)
{
    static const enum rung_state not [] = {
        RUNG_NEVER_ASKED, RUNG_REFUSED, RUNG_ABSENT, RUNG_BROKEN, (enum rung_state)42};

    for (size_t s = 0; s < array_size(not ); s++) {
        struct machine_row machine;

        for (size_t i = 0; i < RUNG_COUNT; i++)
            machine.rungs[i] = (struct rung){.state = not [s]};
        for (unsigned int i = 0; i < CLAIM_COUNT; i++) {
            uint64_t rungs = 7;
            enum rung_id missing = RUNG_COUNT;

            assert_int_equal(claim_back((enum claim_id)i, &machine, &rungs, &missing), -ENOENT);
            assert_true(rungs == 7);
            assert_true(missing < RUNG_COUNT);
        }
    }
}

/* The same for every machine that lacks one rung: what a claim names holds, and is not the one. */
static void what_backs_a_claim_holds(void **state)
{
    for (unsigned int gone = 0; gone < RUNG_COUNT; gone++) {
        struct machine_row machine = all_hold();

        machine.rungs[gone].state = RUNG_ABSENT;
        for (unsigned int i = 0; i < CLAIM_COUNT; i++) {
            uint64_t rungs = 0;
            enum rung_id missing = RUNG_COUNT;

            if (claim_back((enum claim_id)i, &machine, &rungs, &missing) == 0)
                assert_false(rungs & bit((enum rung_id)gone));
            else
                assert_int_equal(missing, gone);
        }
    }
}

static void signals_can_be_kept_inside_in_two_ways(void **state)
{
    struct machine_row machine = all_hold();
    enum rung_id missing;
    uint64_t rungs;

    assert_int_equal(claim_back(CLAIM_SIGNALS_INSIDE, &machine, &rungs, &missing), 0);
    assert_true(rungs == (bit(RUNG_PIDNS) | bit(RUNG_USERNS)));
    machine.rungs[RUNG_PIDNS].state = RUNG_REFUSED;
    assert_int_equal(claim_back(CLAIM_SIGNALS_INSIDE, &machine, &rungs, &missing), 0);
    assert_true(rungs == (bit(RUNG_LANDLOCK) | bit(RUNG_LANDLOCK_SCOPE)));
    machine.rungs[RUNG_LANDLOCK_SCOPE].state = RUNG_ABSENT;
    assert_int_equal(claim_back(CLAIM_SIGNALS_INSIDE, &machine, &rungs, &missing), -ENOENT);
    assert_int_equal(missing, RUNG_PIDNS);
}

/* Linux 6.1: Landlock ABI 2 does not decide truncation; the read-only mounts do. */
static void an_old_landlock_leaves_truncation_to_the_mounts(void **state)
{
    struct machine_row machine = all_hold();
    enum rung_id missing;
    uint64_t whole, rungs;

    assert_int_equal(claim_back(CLAIM_WRITE_CONFINED, &machine, &whole, &missing), 0);
    assert_true(whole & bit(RUNG_LANDLOCK_TRUNCATE));
    machine.rungs[RUNG_LANDLOCK_TRUNCATE].state = RUNG_ABSENT;
    assert_int_equal(claim_back(CLAIM_WRITE_CONFINED, &machine, &rungs, &missing), 0);
    assert_false(rungs & bit(RUNG_LANDLOCK_TRUNCATE));
    assert_true(rungs & bit(RUNG_MOUNTNS) && rungs & bit(RUNG_LANDLOCK));
}

static void a_domain_without_landlock_is_none(void **state)
{
    struct machine_row machine = all_hold();
    enum rung_id missing;
    uint64_t rungs;

    for (unsigned int i = RUNG_LANDLOCK; i <= RUNG_LANDLOCK_AUDIT; i++)
        machine.rungs[i].state = RUNG_ABSENT;
    assert_int_equal(claim_back(CLAIM_WRITE_CONFINED, &machine, &rungs, &missing), -ENOENT);
    assert_int_equal(missing, RUNG_LANDLOCK);
    assert_int_equal(claim_back(CLAIM_READ_CONFINED, &machine, &rungs, &missing), -ENOENT);
    assert_int_equal(missing, RUNG_LANDLOCK);
}

static void tasks_are_bounded_without_a_controller(void **state)
{
    struct machine_row machine = all_hold();
    enum rung_id missing;
    uint64_t rungs;

    machine.rungs[RUNG_CGROUP_PIDS].state = RUNG_ABSENT;
    machine.rungs[RUNG_CGROUP_MEMORY].state = RUNG_ABSENT;
    assert_int_equal(claim_back(CLAIM_TASKS_BOUNDED, &machine, &rungs, &missing), 0);
    assert_true(rungs & bit(RUNG_RLIMIT_NPROC));
    assert_int_equal(claim_back(CLAIM_MEMORY_BOUNDED, &machine, &rungs, &missing), -ENOENT);
    assert_int_equal(missing, RUNG_CGROUP_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reason_has_a_slug_a_meaning_and_a_remedy),
        cmocka_unit_test(what_is_no_reason),
        cmocka_unit_test(rungs_and_their_slugs),
        cmocka_unit_test(words_there_and_back),
        cmocka_unit_test(where_all_holds_each_claim_is_backed),
        cmocka_unit_test(where_nothing_holds_none_is),
        cmocka_unit_test(what_backs_a_claim_holds),
        cmocka_unit_test(signals_can_be_kept_inside_in_two_ways),
        cmocka_unit_test(an_old_landlock_leaves_truncation_to_the_mounts),
        cmocka_unit_test(a_domain_without_landlock_is_none),
        cmocka_unit_test(tasks_are_bounded_without_a_controller),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
