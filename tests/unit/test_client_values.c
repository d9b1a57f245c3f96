/* Values as people write them: exact, or an error that names what is wrong. */
#include "saphan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void limits_are_read_exactly(void **state)
{
    struct saphan_limits limits = {.files = 7};
    struct saphan_error error;

    assert_int_equal(
        saphan_limits_parse(&limits, "tasks=64,memory=2G,cpu=150%,wall=90s,output=10M", &error), 0);
    assert_true(limits.tasks == 64 && limits.memory == 2ULL << 30 && limits.cpu_percent == 150);
    assert_true(limits.wall_ms == 90000 && limits.output == 10ULL << 20 && limits.files == 7);
    assert_int_equal(saphan_limits_parse(&limits, "cpu=50", &error), 0);
    assert_true(limits.cpu_percent == 50);
}

static void bad_limits_are_named(void **state)
{
    static const char *const bad[][2] = {{"memory=-1", "memory=-1"}, {"memory=10X", "memory=10X"},
        {"memory=", "memory="}, {"memory", "memory="}, {"tasks=0", "tasks=0"},
        {"tasks=1,cpu=%", "cpu=%"}, {"cpu=1%%", "cpu=1%%"}, {"wall=1d", "wall=1d"},
        {"swap=1", "swap"}, {"", "no such limit"}, {"tasks=1,", "no such limit"},
        {"tasks=01", "tasks=01"}, {"files=0x10", "files=0x10"}, {"output= 1", "output= 1"},
        {"cpu=99999999999999999999999", "cpu="}, {"wall=99999999999999999999h", "wall="}};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct saphan_limits limits = {.tasks = 3};
        struct saphan_error error;

        assert_int_equal(saphan_limits_parse(&limits, bad[i][0], &error), SAPHAN_E_VALUE);
        assert_non_null(strstr(error.message, bad[i][1]));
        assert_string_equal(error.step, "limit");
        assert_true(limits.tasks == 3);
    }
}

static void artefacts_end_with_their_conditions(void **state)
{
    char plain
        [] = "out/a,b",
   both[] =
        "/w/"
        "out,min-size=1K,sha256=00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF";
    char odd[] = "a,B=3/x=y";
    struct saphan_artefact artefact;

    assert_int_equal(saphan_artefact_parse(plain, &artefact, NULL), 0);
    assert_string_equal(artefact.path, "out/a,b");
    assert_true(artefact.min_size == 0 && !artefact.has_sha256);
    assert_int_equal(saphan_artefact_parse(both, &artefact, NULL), 0);
    assert_string_equal(artefact.path, "/w/out");
    assert_true(artefact.min_size == 1024 && artefact.has_sha256);
    assert_int_equal(artefact.sha256[1], 0x11);
    assert_int_equal(artefact.sha256[31], 0xff);
    /* A path may hold commas and equals signs, if not like a condition. */
    assert_int_equal(saphan_artefact_parse(odd, &artefact, NULL), 0);
    assert_string_equal(artefact.path, "a,B=3/x=y");
}

static void bad_artefacts_are_refused(void **state)
{
    static const char *const bad[] = {"a,min-size=-1", "a,min-size=", "a,max-size=3",
        "a,nonsense=1,min-size=1", "a,sha256=00", ",min-size=1", "", "a,min-size=1,min-size=2"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct saphan_artefact artefact;
        struct saphan_error error;
        char text[64];

        (void)snprintf(text, sizeof(text), "%s", bad[i]);
        assert_int_equal(saphan_artefact_parse(text, &artefact, &error), SAPHAN_E_VALUE);
        assert_string_equal(error.step, "artefact");
    }
}

static void names_go_both_ways(void **state)
{
    enum saphan_boundary boundary;
    enum saphan_view view;
    enum saphan_net net;

    assert_int_equal(saphan_boundary_parse("domain", &boundary), 0);
    assert_string_equal(saphan_boundary_name(boundary), "domain");
    assert_int_equal(saphan_view_parse("host", &view), 0);
    assert_string_equal(saphan_view_name(view), "host");
    assert_int_equal(saphan_net_parse("none", &net), 0);
    assert_string_equal(saphan_net_name(net), "none");
    assert_int_equal(saphan_net_parse("", &net), SAPHAN_E_VALUE);
    assert_int_equal(saphan_net_parse("NONE", &net), SAPHAN_E_VALUE);
    assert_string_equal(saphan_colour_name(SAPHAN_INDETERMINATE), "INDETERMINATE");
    assert_string_equal(saphan_colour_name((enum saphan_colour)99), "?");
    assert_string_equal(saphan_leg_state_name(SAPHAN_LEG_ENDED), "ended");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_read_exactly),
        cmocka_unit_test(bad_limits_are_named),
        cmocka_unit_test(artefacts_end_with_their_conditions),
        cmocka_unit_test(bad_artefacts_are_refused),
        cmocka_unit_test(names_go_both_ways),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
