/* test_limit.c - the values of --limit and of policy files. */
#include "limit.h"
#include "own.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *name, *value;
    int result;
    uint64_t number;
} rows[] = {
    {"tasks", "1", 0, 1},
    {"tasks", "4194304", 0, 4194304},
    {"tasks", "4194305", -ERANGE, 0},
    {"tasks", "0", -ERANGE, 0},
    {"tasks", "10K", -EINVAL, 0},
    {"memory", "64M", 0, 64U << 20},
    {"memory", "512", 0, 512},
    {"memory", "2G", 0, 2ULL << 30},
    {"memory", "0", -ERANGE, 0},
    {"memory", "0G", -ERANGE, 0},
    {"memory", "-1", -EINVAL, 0},
    {"memory", "10X", -EINVAL, 0},
    {"memory", "", -EINVAL, 0},
    {"memory", "8388608T", -ERANGE, 0},
    {"memory", "18446744073709551616", -ERANGE, 0},
    {"cpu", "150", 0, 150},
    {"cpu", "150%", -EINVAL, 0},
    {"cpu", "1000001", -ERANGE, 0},
    {"wall", "90s", 0, 90000},
    {"wall", "90", 0, 90000},
    {"wall", "1500ms", 0, 1500},
    {"wall", "2h", 0, 7200000},
    {"wall", "0ms", -ERANGE, 0},
    {"wall", "1d", -EINVAL, 0},
    {"output", "1M", 0, 1U << 20},
    {"files", "1024", 0, 1024},
    {"files", "1048577", -ERANGE, 0},
    {"file", "1024", -ENOENT, 0},
    {"Tasks", "1", -ENOENT, 0},
    {"", "1", -ENOENT, 0},
};

static enum limit_id id_of(const char *name)
{
    for (unsigned int i = 0; i < LIMIT_COUNT; i++) {
        if (strcmp(limit_name((enum limit_id)i), name) == 0)
            return (enum limit_id)i;
    }
    return LIMIT_COUNT;
}

static void each_value(void **state)
{
    for (size_t i = 0; i < array_size(rows); i++) {
        struct limits limits = {0}, none = {0};
        int r = limits_set(&limits, rows[i].name, rows[i].value);

        if (r != rows[i].result)
            fail_msg("%s=%s: %d, not %d", rows[i].name, rows[i].value, r, rows[i].result);
        if (r == 0)
            assert_true(limits_get(&limits, id_of(rows[i].name)) == rows[i].number);
        else
            assert_memory_equal(&limits, &none, sizeof(limits));
    }
}

static void a_limit_touches_itself_alone(void **state)
{
    for (unsigned int i = 0; i < LIMIT_COUNT; i++) {
        struct limits limits = {0};

        assert_int_equal(limits_set(&limits, limit_name((enum limit_id)i), "7"), 0);
        for (unsigned int j = 0; j < LIMIT_COUNT; j++)
            assert_true((limits_get(&limits, (enum limit_id)j) != 0) == (i == j));
    }
    assert_string_equal(limit_name(LIMIT_COUNT), "?");
    assert_true(limits_get(&(struct limits){1, 1, 1, 1, 1, 1}, LIMIT_COUNT) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_value),
        cmocka_unit_test(a_limit_touches_itself_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
