/* The heads of requests, as the door reads them and as they go on. */
#include "http_head.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static enum http_fault parse(const char *text, struct http_head *head)
{
    return http_head_parse(text, strlen(text), head);
}

static void connect_and_absolute_form_are_read(void **state)
{
    struct http_head head;
    char text[HOST_TEXT_MAX];

    assert_int_equal(
        parse("CONNECT Api.Example.org:443 HTTP/1.1\r\nHost: api.example.org:443\r\n\r\n", &head),
        0);
    assert_true(head.connect);
    host_pattern_format(&head.target, text);
    assert_string_equal(text, "api.example.org:443");
    assert_int_equal(parse("GET http://example.org:8080/a?b HTTP/1.1\r\nHost: example.org:8080\r\n"
                           "Content-Length: 12\r\n\r\n",
                         &head),
        0);
    assert_false(head.connect);
    assert_int_equal(head.target.port, 8080);
    assert_int_equal(head.body, HTTP_BODY_LENGTH);
    assert_int_equal(head.body_length, 12);
    assert_int_equal(parse("GET http://[::1]/ HTTP/1.0\r\n\r\n", &head), 0);
    assert_int_equal(head.target.kind, HOST_ADDRESS);
    assert_int_equal(parse("CONNECT [2001:db8::1]:443 HTTP/1.1\r\n\r\n", &head), 0);
}

static void what_is_not_whole_waits(void **state)
{
    static const char whole[] = "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n";
    struct http_head head;

    for (size_t i = 0; i < sizeof(whole) - 1; i++)
        assert_int_equal(http_head_parse(whole, i, &head), HTTP_INCOMPLETE);
    assert_int_equal(http_head_parse(whole, sizeof(whole) - 1, &head), 0);
    assert_int_equal(head.size, sizeof(whole) - 1);
}

static void what_could_be_two_things_is_nothing(void **state)
{
    static const struct {
        const char *text;
        enum http_fault fault;
    } all[] = {
        {"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", HTTP_NOT_PROXIED},
        {"OPTIONS * HTTP/1.1\r\n\r\n", HTTP_NOT_PROXIED},
        {"CONNECT example.org HTTP/1.1\r\n\r\n", HTTP_BAD_TARGET},
        {"CONNECT example.org:0 HTTP/1.1\r\n\r\n", HTTP_BAD_TARGET},
        {"CONNECT example.org:443:443 HTTP/1.1\r\n\r\n", HTTP_BAD_TARGET},
        {"CONNECT user@example.org:443 HTTP/1.1\r\n\r\n", HTTP_BAD_TARGET},
        {"CONNECT http://example.org:443 HTTP/1.1\r\n\r\n", HTTP_BAD_TARGET},
        {"CONNECT ::1:443 HTTP/1.1\r\n\r\n", HTTP_BAD_TARGET},
        {"CONNECT example.org.:443 HTTP/1.1\r\n\r\n", HTTP_BAD_TARGET},
        {"CONNECT 0x7f.1:443 HTTP/1.1\r\n\r\n", HTTP_BAD_TARGET},
        {"CONNECT  example.org:443 HTTP/1.1\r\n\r\n", HTTP_BAD_REQUEST},
        {"CONNECT example.org:443  HTTP/1.1\r\n\r\n", HTTP_BAD_REQUEST},
        {"CONNECT example.org:443 HTTP/2.0\r\n\r\n", HTTP_BAD_REQUEST},
        {"CONNECT example.org:443\r\n\r\n", HTTP_BAD_REQUEST},
        {"CONNECT example.org:443 HTTP/1.1\n\n", HTTP_BAD_LINE},
        {"CONNECT example.org:443 HTTP/1.1\r\nA: b\n\r\n", HTTP_BAD_LINE},
        {"CONNECT example.org:443 HTTP/1.1\r\nA: b\rc\r\n\r\n", HTTP_BAD_LINE},
        {"\r\nCONNECT example.org:443 HTTP/1.1\r\n\r\n", HTTP_BAD_REQUEST},
        {"GET https://example.org/ HTTP/1.1\r\n\r\n", HTTP_BAD_TARGET},
        {"GET http://example.org/#x HTTP/1.1\r\n\r\n", HTTP_BAD_TARGET},
        {"GET http:///x HTTP/1.1\r\n\r\n", HTTP_BAD_TARGET},
        {"GET http://good.com@evil.com/ HTTP/1.1\r\n\r\n", HTTP_BAD_TARGET},
        {"GET http://good.com%00.evil/ HTTP/1.1\r\n\r\n", HTTP_BAD_TARGET},
        {"GET http://example.org/ HTTP/1.1\r\nHost: evil.org\r\n\r\n", HTTP_OTHER_HOST},
        {"GET http://example.org/ HTTP/1.1\r\nHost: example.org:81\r\n\r\n", HTTP_OTHER_HOST},
        {"GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\nHost: example.org\r\n\r\n",
            HTTP_BAD_HEADER},
        {"GET http://example.org/ HTTP/1.1\r\nHost : example.org\r\n\r\n", HTTP_BAD_HEADER},
        {"GET http://example.org/ HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", HTTP_BAD_HEADER},
        {"GET http://example.org/ HTTP/1.1\r\nno colon\r\n\r\n", HTTP_BAD_HEADER},
        {"GET http://example.org/ HTTP/1.1\r\n: x\r\n\r\n", HTTP_BAD_HEADER},
        {"POST http://example.org/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            HTTP_BAD_LENGTH},
        {"POST http://example.org/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: "
         "chunked\r\n\r\n",
            HTTP_BAD_LENGTH},
        {"POST http://example.org/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n", HTTP_BAD_LENGTH},
        {"POST http://example.org/ HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n", HTTP_BAD_LENGTH},
        {"POST http://example.org/ HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
            HTTP_BAD_LENGTH},
        {"POST http://example.org/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            HTTP_BAD_LENGTH},
        {"POST http://example.org/ HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n",
            HTTP_BAD_LENGTH},
        {"POST http://example.org/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
            HTTP_BAD_LENGTH},
        {"CONNECT example.org:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\n", HTTP_BAD_LENGTH},
        {"TRACE http://example.org/ HTTP/1.1\r\n\r\n", HTTP_BAD_METHOD},
        {"GE(T http://example.org/ HTTP/1.1\r\n\r\n", HTTP_BAD_REQUEST},
    };
    struct http_head head;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        enum http_fault fault = parse(all[i].text, &head);

        if (fault != all[i].fault)
            fail_msg("%s: %d, not %d", all[i].text, fault, all[i].fault);
    }
    assert_int_equal(
        http_head_parse("GET http://a.org/ HTTP/1.1\r\nA: \0\r\n\r\n", 35, &head), HTTP_BAD_LINE);
}

static void a_flood_ends(void **state)
{
    static char flood[HTTP_HEAD_MAX * 2];
    struct http_head head;
    size_t at = (size_t)sprintf(flood, "GET http://example.org/ HTTP/1.1\r\n");

    for (int i = 0; i < HTTP_HEADERS_MAX + 1; i++)
        at += (size_t)sprintf(flood + at, "A%d: b\r\n", i);
    (void)sprintf(flood + at, "\r\n");
    assert_int_equal(parse(flood, &head), HTTP_TOO_BIG);
    memset(flood + 38, 'a', sizeof(flood) - 38);
    assert_int_equal(http_head_parse(flood, HTTP_HEAD_MAX - 1, &head), HTTP_INCOMPLETE);
    assert_int_equal(http_head_parse(flood, HTTP_HEAD_MAX, &head), HTTP_TOO_BIG);
}

static void one_hop_fields_do_not_go_on(void **state)
{
    static const char text[] =
        "POST http://example.org?x=1 HTTP/1.1\r\nHost: example.org\r\nConnection: close, X-Hop\r\n"
        "X-Hop: 1\r\nProxy-Authorization: Basic x\r\nTE: trailers\r\nKeep: me\r\nx-api-key: "
        "agent\r\n"
        "Content-Length: 3\r\n\r\nabc";
    static const char *const drop[] = {"X-API-Key", NULL};
    struct http_head head;
    char out[1024];
    size_t size;

    assert_int_equal(parse(text, &head), 0);
    size = http_head_rewrite(
        text, &head, "example.org", drop, "X-API-Key: mine\r\n", out, sizeof(out) - 1);
    out[size] = '\0';
    assert_string_equal(out, "POST /?x=1 HTTP/1.1\r\nHost: example.org\r\nKeep: me\r\n"
                             "Content-Length: 3\r\nX-API-Key: mine\r\nConnection: close\r\n\r\n");
    assert_int_equal(http_head_rewrite(text, &head, "example.org", NULL, NULL, out, 20), 0);
}

static void connection_cannot_take_the_length_away(void **state)
{
    static const char text[] = "POST http://example.org/ HTTP/1.1\r\nConnection: Content-Length\r\n"
                               "Content-Length: 3\r\n\r\n";
    struct http_head head;
    char out[1024];
    size_t size;

    assert_int_equal(parse(text, &head), 0);
    size = http_head_rewrite(text, &head, "example.org", NULL, NULL, out, sizeof(out) - 1);
    out[size] = '\0';
    assert_non_null(strstr(out, "Content-Length: 3"));
}

static int64_t run(const char *body, bool *ended)
{
    struct http_chunks chunks = {0};
    int64_t at = 0;

    *ended = false;
    for (size_t i = 0; i < strlen(body) && !*ended; i++) { /* a byte at a time */
        int64_t n = http_chunks_run(&chunks, body + i, 1, ended);

        if (n < 0)
            return n;
        at += n;
    }
    return at;
}

static void a_chunked_body_ends_where_it_ends(void **state)
{
    bool ended;

    assert_int_equal(run("3\r\nabc\r\n0\r\n\r\nGET / HTTP/1.1", &ended), 13);
    assert_true(ended);
    assert_int_equal(run("A;x=y\r\n0123456789\r\n00\r\n\r\n", &ended), 25);
    assert_true(ended);
    assert_int_equal(run("3\r\nabc\r\n", &ended), 8);
    assert_false(ended);
}

static void what_is_no_chunk_is_refused(void **state)
{
    static const char *const bad[] = {"x\r\n", "\r\n", "3\nabc\r\n", "3\r\nabcd\r\n", "-1\r\n",
        "0x3\r\nabc", "fffffffffffffffff\r\n", "3 \r\nabc\r\n", "0\r\nTrailer: x\r\n\r\n",
        "3\r\nabc\n0\r\n\r\n"};
    bool ended;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (run(bad[i], &ended) != -EINVAL)
            fail_msg("taken: %s", bad[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connect_and_absolute_form_are_read),
        cmocka_unit_test(what_is_not_whole_waits),
        cmocka_unit_test(what_could_be_two_things_is_nothing),
        cmocka_unit_test(a_flood_ends),
        cmocka_unit_test(one_hop_fields_do_not_go_on),
        cmocka_unit_test(connection_cannot_take_the_length_away),
        cmocka_unit_test(a_chunked_body_ends_where_it_ends),
        cmocka_unit_test(what_is_no_chunk_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
