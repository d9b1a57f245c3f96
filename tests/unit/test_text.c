/* test_text.c - exact parsing: the whole text is the value, or it is an error. */
#include "text.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void plain_numbers(void **state)
{
    uint64_t value = 7;
    assert_int_equal(text_parse_uint("0", 65535, &value), 0);
    assert_int_equal(value, 0);
    assert_int_equal(text_parse_uint("65535", 65535, &value), 0);
    assert_int_equal(value, 65535);
    assert_int_equal(text_parse_uint("65536", 65535, &value), -ERANGE);
    assert_int_equal(text_parse_uint("18446744073709551615", UINT64_MAX, &value), 0);
    assert_true(value == UINT64_MAX);
    assert_int_equal(text_parse_uint("18446744073709551616", UINT64_MAX, &value), -ERANGE);
}

static void what_only_looks_like_a_number(void **state)
{
    static const char *const bad[] = {"", "01", "00", "0x1", "-1", "+1", " 1", "1 ", "1:0", "1\n",
        "1.0", "root", "1e3", "\xd9\xa1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint64_t value = 7;
        assert_int_equal(text_parse_uint(bad[i], UINT64_MAX, &value), -EINVAL);
        assert_int_equal(value, 7);
    }
}

static void sizes(void **state)
{
    uint64_t bytes = 7;
    assert_int_equal(text_parse_size("512", &bytes), 0);
    assert_int_equal(bytes, 512);
    assert_int_equal(text_parse_size("64M", &bytes), 0);
    assert_true(bytes == 64ULL << 20);
    assert_int_equal(text_parse_size("1T", &bytes), 0);
    assert_true(bytes == 1ULL << 40);
    assert_int_equal(text_parse_size("99999999999999T", &bytes), -ERANGE);
    static const char *const bad[] = {"", "-1", "10X", "M", "1.5M", "10MB", "0x10", " 1M", "01M"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        bytes = 7;
        assert_int_equal(text_parse_size(bad[i], &bytes), -EINVAL);
        assert_int_equal(bytes, 7);
    }
}

static void durations(void **state)
{
    uint64_t ms = 7;
    assert_int_equal(text_parse_duration("500ms", &ms), 0);
    assert_int_equal(ms, 500);
    assert_int_equal(text_parse_duration("90s", &ms), 0);
    assert_int_equal(ms, 90000);
    assert_int_equal(text_parse_duration("2h", &ms), 0);
    assert_int_equal(ms, 7200000);
    assert_int_equal(text_parse_duration("3", &ms), 0);
    assert_int_equal(ms, 3000);
    assert_int_equal(text_parse_duration("18446744073709551615h", &ms), -ERANGE);
    static const char *const bad[] = {"", "s", "-1s", "1d", "1 s", "1.5s", "01s"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(text_parse_duration(bad[i], &ms), -EINVAL);
}

static void digests(void **state)
{
    static const char text[] = "00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00FF";
    uint8_t digest[32] = {7};
    char back[65];
    assert_int_equal(text_parse_sha256(text, digest), 0);
    assert_int_equal(digest[0], 0);
    assert_int_equal(digest[31], 0xff);
    text_format_sha256(digest, back);
    assert_int_equal(strcasecmp(back, text), 0);
    assert_int_equal(text_parse_sha256("00ff", digest), -EINVAL);
    char wrong[65];
    memcpy(wrong, text, sizeof(wrong));
    wrong[40] = 'g';
    assert_int_equal(text_parse_sha256(wrong, digest), -EINVAL);
}

static void booleans(void **state)
{
    bool value = false;
    assert_int_equal(text_parse_bool("yes", &value), 0);
    assert_true(value);
    assert_int_equal(text_parse_bool("no", &value), 0);
    assert_false(value);
    assert_int_equal(text_parse_bool("true", &value), -EINVAL);
    assert_int_equal(text_parse_bool("1", &value), -EINVAL);
    assert_int_equal(text_parse_bool("", &value), -EINVAL);
}

static void paths_beneath_paths(void **state)
{
    assert_true(text_path_beneath("/srv/x", "/srv/x"));
    assert_true(text_path_beneath("/srv/x/y", "/srv/x"));
    assert_true(text_path_beneath("/srv/x", "/"));
    assert_true(text_path_beneath("/", "/"));
    assert_false(text_path_beneath("/srv/xy", "/srv/x"));
    assert_false(text_path_beneath("/srv", "/srv/x"));
}

static void normal_paths(void **state)
{
    assert_true(text_path_is_normal("/"));
    assert_true(text_path_is_normal("/srv/x"));
    assert_true(text_path_is_normal("/srv/..x"));
    static const char *const bad[] = {
        "", "srv", "//", "/srv/", "/srv//x", "/srv/./x", "/srv/../x", "/.", "/srv/.."};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(text_path_is_normal(bad[i]));
}

static void what_a_leg_wrote_cannot_steer_a_terminal(void **state)
{
    char out[64];
    text_escape("plain", out, sizeof(out));
    assert_string_equal(out, "plain");
    text_escape("a\x1b[2Jb\n", out, sizeof(out));
    assert_null(strchr(out, '\x1b'));
    assert_null(strchr(out, '\n'));
    text_escape_word("a pid=1 b", out, sizeof(out));
    assert_string_equal(out, "a\\x20pid=1\\x20b");
    char small[8];
    memset(small, 'x', sizeof(small));
    text_escape("\x1b\x1b\x1b\x1b\x1b", small, sizeof(small));
    assert_non_null(memchr(small, '\0', sizeof(small)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_numbers),
        cmocka_unit_test(what_only_looks_like_a_number),
        cmocka_unit_test(sizes),
        cmocka_unit_test(durations),
        cmocka_unit_test(digests),
        cmocka_unit_test(booleans),
        cmocka_unit_test(paths_beneath_paths),
        cmocka_unit_test(normal_paths),
        cmocka_unit_test(what_a_leg_wrote_cannot_steer_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
