/* The name in a ClientHello, and SOCKS5's two messages. */
#include "socks5.h"
#include "tls_name.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* A ClientHello with the extensions in BYTES, cut into records of RECORD bytes. */
static size_t hello_of(const uint8_t *extensions, size_t n, size_t record, uint8_t *out)
{
    uint8_t message[512] = {1, 0, 0, 0, 3, 3};
    size_t size = 6 + 32, at = 0, used = 0;

    message[size++] = 0;                                         /* session id */
    memcpy(message + size, (uint8_t[]){0, 2, 0x13, 1, 1, 0}, 6); /* suites, compression */
    size += 6;
    message[size++] = (uint8_t)(n >> 8);
    message[size++] = (uint8_t)n;
    memcpy(message + size, extensions, n);
    size += n;
    message[2] = (uint8_t)((size - 4) >> 8);
    message[3] = (uint8_t)(size - 4);
    while (at < size) {
        size_t part = size - at < record ? size - at : record;

        memcpy(out + used, (uint8_t[]){22, 3, 1, (uint8_t)(part >> 8), (uint8_t)part}, 5);
        memcpy(out + used + 5, message + at, part);
        used += 5 + part;
        at += part;
    }
    return used;
}

static size_t server_name(const char *name, uint8_t *out)
{
    size_t n = strlen(name);

    memcpy(out, (uint8_t[]){0, 0, 0, (uint8_t)(n + 5), 0, (uint8_t)(n + 3), 0, 0, (uint8_t)n}, 9);
    memcpy(out + 9, name, n);
    return n + 9;
}

static void the_name_is_found_in_any_number_of_records(void **state)
{
    uint8_t extension[128], hello[2048];
    size_t n = server_name("Api.Example.org", extension);
    char name[HOST_NAME_LIMIT];

    for (size_t record = 1; record < 200; record += 7) {
        size_t size = hello_of(extension, n, record, hello);

        for (size_t i = 0; i < size; i++)
            assert_int_equal(tls_name_find(hello, i, name), TLS_NAME_INCOMPLETE);
        assert_int_equal(tls_name_find(hello, size, name), 0);
        assert_string_equal(name, "api.example.org");
    }
}

static void two_names_or_none_are_no_name(void **state)
{
    uint8_t extension[128], hello[2048];
    size_t n = server_name("a.org", extension), size;
    char name[HOST_NAME_LIMIT];

    n += server_name("b.org", extension + n);
    size = hello_of(extension, n, 512, hello);
    assert_int_equal(tls_name_find(hello, size, name), TLS_NAME_NOT_TLS);
    size = hello_of(extension, 0, 512, hello);
    assert_int_equal(tls_name_find(hello, size, name), TLS_NAME_NONE);
    n = server_name("a.org.", extension);
    size = hello_of(extension, n, 512, hello);
    assert_int_equal(tls_name_find(hello, size, name), TLS_NAME_NOT_TLS);
    n = server_name("127.0.0.1", extension);
    size = hello_of(extension, n, 512, hello);
    assert_int_equal(tls_name_find(hello, size, name), TLS_NAME_NOT_TLS);
    assert_int_equal(
        tls_name_find((const uint8_t *)"GET / HTTP/1.1\r\n", 16, name), TLS_NAME_NOT_TLS);
    assert_int_equal(tls_name_find((const uint8_t *)"SSH", 3, name), TLS_NAME_NOT_TLS);
}

static enum socks5_result request(const void *bytes, size_t size, struct host_pattern *target)
{
    size_t used = 0;

    return socks5_request(bytes, size, &used, target);
}

static void socks_connects_by_name_and_address(void **state)
{
    struct host_pattern target;
    char text[HOST_TEXT_MAX];
    size_t used;

    assert_int_equal(socks5_greeting((const uint8_t *)"\5\1\0", 3, &used), 0);
    assert_int_equal(used, 3);
    assert_int_equal(socks5_greeting((const uint8_t *)"\5\1\2", 3, &used), SOCKS5_NO_METHOD);
    assert_int_equal(socks5_greeting((const uint8_t *)"\4\1", 2, &used), SOCKS5_MALFORMED);
    assert_int_equal(request("\5\1\0\3\13example.org\1\273", 18, &target), 0);
    host_pattern_format(&target, text);
    assert_string_equal(text, "example.org:443");
    assert_int_equal(request("\5\1\0\1\10\10\10\10\0\65", 10, &target), 0);
    host_pattern_format(&target, text);
    assert_string_equal(text, "8.8.8.8:53");
    assert_int_equal(
        request("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\377\377\177\0\0\1\0\120", 22, &target), 0);
    host_pattern_format(&target, text);
    assert_string_equal(text, "127.0.0.1:80");
    for (size_t i = 0; i < 18; i++)
        assert_int_equal(request("\5\1\0\3\13example.org\1\273", i, &target), SOCKS5_INCOMPLETE);
}

static void socks_does_nothing_else(void **state)
{
    struct host_pattern target;

    assert_int_equal(request("\5\2\0\1\10\10\10\10\0\65", 10, &target), SOCKS5_COMMAND_REFUSED);
    assert_int_equal(request("\5\3\0\1\10\10\10\10\0\65", 10, &target), SOCKS5_COMMAND_REFUSED);
    assert_int_equal(request("\5\1\0\2\10\10\10\10\0\65", 10, &target), SOCKS5_BAD_ADDRESS);
    assert_int_equal(request("\5\1\0\3\13example\0org\1\273", 18, &target), SOCKS5_BAD_ADDRESS);
    assert_int_equal(request("\5\1\0\3\0\1\273", 7, &target), SOCKS5_BAD_ADDRESS);
    assert_int_equal(request("\5\1\0\1\10\10\10\10\0\0", 10, &target), SOCKS5_BAD_ADDRESS);
    assert_int_equal(request("\5\1\1\1\10\10\10\10\0\65", 10, &target), SOCKS5_MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_is_found_in_any_number_of_records),
        cmocka_unit_test(two_names_or_none_are_no_name),
        cmocka_unit_test(socks_connects_by_name_and_address),
        cmocka_unit_test(socks_does_nothing_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
