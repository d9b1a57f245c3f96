/* hosts: what is a name, what is an address, what a list lets. */
#include "forward.h"
#include "hosts.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct host_pattern pattern_of(const char *text, bool ceiling)
{
    struct host_pattern pattern;

    if (host_pattern_parse(text, ceiling, &pattern) < 0)
        fail_msg("no pattern: %s", text);
    assert_true(host_pattern_is_canonical(&pattern, ceiling));
    return pattern;
}

static struct host_pattern target_of(const char *host, uint16_t port)
{
    struct host_pattern target;

    if (host_target_parse(host, strlen(host), port, &target) < 0)
        fail_msg("no target: %s", host);
    return target;
}

static bool lets(const char *list, const char *host, uint16_t port)
{
    struct host_pattern pattern = pattern_of(list, false), target;

    return host_target_parse(host, strlen(host), port, &target) == 0 &&
           host_list_find(&pattern, 1, &target) != NULL;
}

static void a_name_is_let_exactly(void **state)
{
    assert_true(lets("api.example.org", "api.example.org", 443));
    assert_true(lets("API.example.ORG", "api.EXAMPLE.org", 443));
    assert_false(lets("api.example.org", "api.example.org", 80));
    assert_true(lets("api.example.org:80", "api.example.org", 80));
    assert_false(lets("api.example.org:80", "api.example.org", 25));
    assert_false(lets("good.com", "good.com.evil", 443));
    assert_false(lets("good.com", "xgood.com", 443));
    assert_false(lets("good.com", "www.good.com", 443));
    assert_false(lets("good.com", "goodxcom", 443));
}

static void a_star_is_what_lies_below(void **state)
{
    assert_true(lets("*.example.org", "a.example.org", 443));
    assert_true(lets("*.example.org", "a.b.c.example.org", 443));
    assert_false(lets("*.example.org", "example.org", 443));
    assert_false(lets("*.example.org", "xexample.org", 443));
    assert_false(lets("*.example.org", "a.example.org.evil", 443));
    assert_false(lets("*.example.org", ".example.org", 443));
    assert_false(lets("*.example.org", "93.184.215.14", 443));
}

static void nothing_lets_nothing(void **state)
{
    struct host_pattern target = target_of("example.org", 443);

    assert_null(host_list_find(NULL, 0, &target));
}

static void what_is_neither_name_nor_address(void **state)
{
    static const char *const bad[] = {"", ".", "a..b", "example.org.", ".example.org",
        "exa mple.org", "user@example.org", "example.org/", "ex\xc3\xa4mple.org", "example.org\t",
        "*", "*.org", "a*b.org", "[example.org]", "[::1", "::1]", "fe80::1%eth0", "1.2.3", "1",
        "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.0.0.01", "127.0.0.0x1",
        "1.2.3.4.5", "256.1.1.1", "example.123", "example.0x1f", "%31.example.org", "a\\b.org",
        "127.0.0.1:80", "a,b.org",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.org"};
    struct host_pattern target;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (host_target_parse(bad[i], strlen(bad[i]), 443, &target) != -EINVAL)
            fail_msg("taken: %s", bad[i]);
    }
    assert_int_equal(host_target_parse("evil\0.good.com", 14, 443, &target), -EINVAL);
    assert_int_equal(host_target_parse("good.com\0evil", 13, 443, &target), -EINVAL);
    assert_int_equal(host_target_parse("good.com", 8, 0, &target), -EINVAL);
}

static void an_address_has_one_spelling(void **state)
{
    struct host_pattern four = target_of("127.0.0.1", 80),
                        mapped = target_of("::ffff:127.0.0.1", 80),
                        hex = target_of("[::FFFF:7f00:1]", 80);
    char text[HOST_TEXT_MAX];

    assert_true(host_pattern_equal(&four, &mapped));
    assert_true(host_pattern_equal(&four, &hex));
    four = target_of("2001:DB8:0:0::1", 443);
    host_pattern_format(&four, text);
    assert_string_equal(text, "[2001:db8::1]:443");
}

static void each_kind_of_address(void **state)
{
    static const struct {
        const char *address;
        enum address_kind kind;
    } all[] = {{"0.0.0.0", ADDRESS_UNSPECIFIED}, {"127.255.0.1", ADDRESS_LOOPBACK},
        {"10.1.2.3", ADDRESS_PRIVATE}, {"172.16.0.1", ADDRESS_PRIVATE},
        {"172.31.255.255", ADDRESS_PRIVATE}, {"172.32.0.1", ADDRESS_PUBLIC},
        {"192.168.0.1", ADDRESS_PRIVATE}, {"100.64.0.1", ADDRESS_PRIVATE},
        {"100.127.255.255", ADDRESS_PRIVATE}, {"100.128.0.1", ADDRESS_PUBLIC},
        {"100.100.100.200", ADDRESS_METADATA}, {"169.254.169.254", ADDRESS_LINK_LOCAL},
        {"168.63.129.16", ADDRESS_METADATA}, {"192.0.0.192", ADDRESS_RESERVED},
        {"192.0.2.1", ADDRESS_RESERVED}, {"198.19.0.1", ADDRESS_RESERVED},
        {"224.0.0.1", ADDRESS_MULTICAST}, {"239.255.255.255", ADDRESS_MULTICAST},
        {"240.0.0.1", ADDRESS_RESERVED}, {"255.255.255.255", ADDRESS_RESERVED},
        {"8.8.8.8", ADDRESS_PUBLIC}, {"::", ADDRESS_UNSPECIFIED}, {"::1", ADDRESS_LOOPBACK},
        {"::127.0.0.1", ADDRESS_TRANSLATED}, {"::ffff:10.0.0.1", ADDRESS_PRIVATE},
        {"64:ff9b::7f00:1", ADDRESS_TRANSLATED}, {"64:ff9b:1::1", ADDRESS_TRANSLATED},
        {"2002:7f00:1::", ADDRESS_TRANSLATED}, {"2001:0:1::1", ADDRESS_TRANSLATED},
        {"2001:db8::1", ADDRESS_RESERVED}, {"fd00:ec2::254", ADDRESS_METADATA},
        {"fd12::1", ADDRESS_PRIVATE}, {"fc00::1", ADDRESS_PRIVATE}, {"fe80::1", ADDRESS_LINK_LOCAL},
        {"febf::1", ADDRESS_LINK_LOCAL}, {"fec0::1", ADDRESS_PRIVATE},
        {"ff02::1", ADDRESS_MULTICAST}, {"4000::1", ADDRESS_RESERVED},
        {"2606:4700::1111", ADDRESS_PUBLIC}};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct host_pattern target = target_of(all[i].address, 1);

        if (address_kind(&target.address) != all[i].kind)
            fail_msg("%s is %s", all[i].address, address_kind_name(address_kind(&target.address)));
    }
}

static void a_private_address_must_be_named_itself(void **state)
{
    struct host_pattern list[] = {
        pattern_of("*.corp.example:80", false), pattern_of("10.0.0.5:80", false)};
    struct host_pattern target = target_of("mirror.corp.example", 80);
    struct host_address named = target_of("10.0.0.5", 80).address,
                        other = target_of("10.0.0.6", 80).address,
                        mine = target_of("127.0.0.1", 80).address;

    assert_true(host_address_allowed(list, 2, &target, &named));
    assert_false(host_address_allowed(list, 2, &target, &other));
    assert_false(host_address_allowed(list, 2, &target, &mine));
    target.port = 8080; /* that port of the address was not named */
    assert_false(host_address_allowed(list, 2, &target, &named));
    target = target_of("localhost", 80);
    assert_true(host_address_allowed(list, 2, &target, &mine));
}

static void a_ceiling_covers_what_it_says(void **state)
{
    static const struct {
        const char *ceiling, *asked;
        bool covers;
    } all[] = {{"*:443", "example.org", true}, {"*:443", "*.example.org", true},
        {"*:443", "example.org:80", false}, {"*:*", "example.org:80", true},
        {"*:*", "localhost:22", false}, {"*:*", "LOCALHOST:22", false},
        {"localhost:*", "localhost:22", true}, {"localhost:80", "localhost:22", false},
        {"*:443", "8.8.8.8", true}, {"*:443", "127.0.0.1", false}, {"*:*", "10.0.0.1:80", false},
        {"10.0.0.1:*", "10.0.0.1:80", true}, {"*.example.org", "*.example.org", true},
        {"*.example.org", "*.a.example.org", true}, {"*.a.example.org", "*.example.org", false},
        {"*.example.org", "example.org", false}, {"*.example.org", "a.example.org", true},
        {"example.org", "*.example.org", false}, {"a.example.org", "a.example.org:443", true}};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct host_pattern ceiling = pattern_of(all[i].ceiling, true),
                            asked = pattern_of(all[i].asked, false);

        if (host_pattern_covers(&ceiling, &asked) != all[i].covers)
            fail_msg("%s and %s", all[i].ceiling, all[i].asked);
    }
}

static void a_request_cannot_ask_for_everything(void **state)
{
    static const char *const bad[] = {"*", "*:443", "example.org:*", "*.", "*.1.2.3.4", "**.org",
        "*.*.org", "example.org:0", "example.org:65536", "example.org:", "example.org:080",
        "example.org:+80", "example.org:80x", "http://example.org", "::1:80:", ""};
    struct host_pattern pattern;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (host_pattern_parse(bad[i], false, &pattern) != -EINVAL)
            fail_msg("taken: %s", bad[i]);
    }
}

static void patterns_are_written_as_they_are_read(void **state)
{
    static const char *const all[] = {"example.org:443", "*.example.org:8443", "8.8.8.8:53",
        "[2606:4700::1111]:443", "*:*", "*:443", "example.org:*"};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct host_pattern pattern = pattern_of(all[i], true);
        char text[HOST_TEXT_MAX];

        host_pattern_format(&pattern, text);
        assert_string_equal(text, all[i]);
    }
}

static void forwards_have_fixed_targets(void **state)
{
    static const char *const bad[] = {"*.example.org:443", "unix:relative", "unix:/a/../b",
        "unix:", "https://*.example.org", "https://user@example.org", "https://example.org/path",
        "", "http://example.org"};
    struct forward forward = {.port = 8080};
    char text[FORWARD_TEXT_MAX];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (forward_parse_target(bad[i], &forward) != -EINVAL)
            fail_msg("taken: %s", bad[i]);
    }
    forward = (struct forward){.port = 8080};
    assert_int_equal(forward_parse_target("https://api.example.org", &forward), 0);
    assert_true(forward_is_canonical(&forward));
    forward.header = "Authorization";
    assert_true(forward_is_canonical(&forward));
    forward_format(&forward, text);
    assert_string_equal(text, "8080=https://api.example.org:443");
    forward.header = "content-length";
    assert_false(forward_is_canonical(&forward));
    forward.header = "X-Key\r\nHost";
    assert_false(forward_is_canonical(&forward));
    forward.header = NULL;
    forward.port = DOOR_PORT_HTTP;
    assert_false(forward_is_canonical(&forward));
    forward = (struct forward){.port = 1};
    assert_int_equal(forward_parse_target("unix:/run/x.sock", &forward), 0);
    assert_true(forward_is_canonical(&forward));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_let_exactly),
        cmocka_unit_test(a_star_is_what_lies_below),
        cmocka_unit_test(nothing_lets_nothing),
        cmocka_unit_test(what_is_neither_name_nor_address),
        cmocka_unit_test(an_address_has_one_spelling),
        cmocka_unit_test(each_kind_of_address),
        cmocka_unit_test(a_private_address_must_be_named_itself),
        cmocka_unit_test(a_ceiling_covers_what_it_says),
        cmocka_unit_test(a_request_cannot_ask_for_everything),
        cmocka_unit_test(patterns_are_written_as_they_are_read),
        cmocka_unit_test(forwards_have_fixed_targets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
