/* A secret in a stream, wherever the stream is cut. */
#include "mask.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char secret[] = "sk-sk-secret";
#define LENGTH (sizeof(secret) - 1)
#define STARS "************"

/* TEXT in pieces of SIZE bytes, as it goes on; what mask_run() said last. */
static int run(const char *text, size_t size, char *out)
{
    static char buffer[MASK_HELD_MAX + 4096];
    struct mask mask;
    size_t used = 0;
    int r = mask_init(&mask, secret, LENGTH);

    for (size_t at = 0; r == 0 && at < strlen(text); at += size) {
        size_t part = strlen(text) - at < size ? strlen(text) - at : size, n;
        char *from;

        memcpy(buffer + MASK_HELD_MAX, text + at, part);
        r = mask_run(&mask, buffer, part, &from, &n);
        if (r < 0) /* nothing of it goes on */
            break;
        memcpy(out + used, from, n);
        used += n;
    }
    used += mask_end(&mask, out + used);
    out[used] = '\0';
    mask_done(&mask);
    return r;
}

static void becomes(const char *text, const char *masked)
{
    char out[2048];

    for (size_t size = 1; size <= 40; size++) {
        assert_int_equal(run(text, size, out), 0);
        assert_string_equal(out, masked);
    }
    assert_int_equal(run(text, strlen(text) + 1, out), 0);
    assert_string_equal(out, masked);
}

static void the_secret_is_masked_wherever_it_is_cut(void **state)
{
    becomes("nothing here", "nothing here");
    becomes("a sk-sk-secret b", "a " STARS " b");
    becomes("sk-sk-secretsk-sk-secret", STARS STARS);
    becomes("sk-sk-sk-secret", "sk-" STARS);
    becomes("sk-sk-secre", "sk-sk-secre");
    becomes("sk-sk-secrex sk-", "sk-sk-secrex sk-");
    becomes("data: sk\n\ndata: -sk-secret\n\n", "data: sk\n\ndata: -sk-secret\n\n");
    becomes("HTTP/1.1 200 OK\r\nX-Key: sk-sk-secret\r\n\r\nsk-sk-secret",
        "HTTP/1.1 200 OK\r\nX-Key: " STARS "\r\n\r\n" STARS);
}

#define CHUNKED "HTTP/1.1 200 OK\r\ntransfer-encoding: \tChunked\r\n\r\n"

static void a_secret_that_lies_in_several_chunks_is_masked(void **state)
{
    becomes(CHUNKED "c\r\nsk-sk-secret\r\n0\r\n\r\n", CHUNKED "c\r\n" STARS "\r\n0\r\n\r\n");
    becomes(CHUNKED "6\r\na sk-s\r\n00A \r\nk-secret b\r\n0\r\n\r\n",
        CHUNKED "6\r\na ****\r\n00A \r\n******** b\r\n0\r\n\r\n");
    becomes(CHUNKED "1\r\ns\r\n1\r\nk\r\n1\r\n-\r\n1\r\ns\r\n1 \nk\n8\r\n-secret.\r\n0\r\n\r\n",
        CHUNKED "1\r\n*\r\n1\r\n*\r\n1\r\n*\r\n1\r\n*\r\n1 \n*\n8\r\n*******.\r\n0\r\n\r\n");
    /* A beginning of it that was none, and another that was, over the frames of both. */
    becomes(CHUNKED "3\r\nsk-\r\n3\r\nsk-\r\n9\r\nsk-secret\r\n0\r\n\r\n",
        CHUNKED "3\r\nsk-\r\n3\r\n***\r\n9\r\n*********\r\n0\r\n\r\n");
    becomes(CHUNKED "3\r\nsk-\r\n3\r\nsk-\r\n3\r\nsec\r\n0\r\n\r\n",
        CHUNKED "3\r\nsk-\r\n3\r\nsk-\r\n3\r\nsec\r\n0\r\n\r\n");
    /* Trailers are text. */
    becomes(CHUNKED "0\r\nX-Key: sk-sk-secret\r\n\r\n", CHUNKED "0\r\nX-Key: " STARS "\r\n\r\n");
}

static void an_answer_behind_another_is_read_like_it(void **state)
{
    becomes("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" CHUNKED
            "2\r\nsk\r\na\r\n-sk-secret\r\n0\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" CHUNKED
        "2\r\n**\r\na\r\n**********\r\n0\r\n\r\n");
    /* Without chunks a line of digits is text. */
    becomes("HTTP/1.0 200 OK\r\n\r\nsk-\r\n9\r\nsk-secret",
        "HTTP/1.0 200 OK\r\n\r\nsk-\r\n9\r\nsk-secret");
}

static void chunks_that_are_none_end_it(void **state)
{
    char out[2048];

    for (size_t size = 1; size <= 40; size++) {
        assert_int_equal(run(CHUNKED "x\r\na\r\n", size, out), -EINVAL);
        assert_int_equal(run(CHUNKED "1;sk-sk-secret\r\na\r\n", size, out), -EINVAL);
        assert_null(strstr(out, secret));
        assert_int_equal(run(CHUNKED "1\r\nab", size, out), -EINVAL);
        assert_int_equal(run(CHUNKED "1\r\na\r\r\n", size, out), -EINVAL);
        assert_int_equal(run(CHUNKED "fffffffffffffffff\r\n", size, out), -EINVAL);
    }
}

static void what_is_compressed_ends_it(void **state)
{
    static const char *const heads[] = {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-encoding:br\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"};
    char out[2048];

    for (size_t size = 1; size <= 40; size++) {
        for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
            assert_int_equal(run(heads[i], size, out), -EINVAL);
    }
    becomes("HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\n\r\na",
        "HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\n\r\na");
}

static void what_is_held_back_has_a_bound(void **state)
{
    static char buffer[MASK_HELD_MAX + 4096];
    struct mask mask;
    size_t n, total = 0;
    char *from;
    int r;

    assert_int_equal(mask_init(&mask, secret, LENGTH), 0);
    memcpy(buffer + MASK_HELD_MAX, CHUNKED "1\r\ns\r\n1 ", strlen(CHUNKED) + 8);
    r = mask_run(&mask, buffer, strlen(CHUNKED) + 8, &from, &n);
    while (r == 0 && total < 2 * MASK_HELD_MAX) {
        memset(buffer + MASK_HELD_MAX, ' ', 4096);
        total += 4096;
        r = mask_run(&mask, buffer, 4096, &from, &n);
    }
    assert_int_equal(r, -E2BIG);
    assert_true(total > MASK_HELD_MAX - 4096 && total <= MASK_HELD_MAX + 4096);
    mask_done(&mask);
}

static void only_a_beginning_of_it_is_held_back(void **state)
{
    static char buffer[MASK_HELD_MAX + 64];
    struct mask mask;
    char *from;
    size_t n;

    assert_int_equal(mask_init(&mask, secret, LENGTH), 0);
    memcpy(buffer + MASK_HELD_MAX, "token\n\n", 7);
    assert_int_equal(mask_run(&mask, buffer, 7, &from, &n), 0);
    assert_int_equal(n, 7);
    memcpy(buffer + MASK_HELD_MAX, "ends in sk", 10);
    assert_int_equal(mask_run(&mask, buffer, 10, &from, &n), 0);
    assert_int_equal(n, 8);
    /* And is not lying about: only where it is looked for. */
    assert_null(memmem(mask.held, mask.held_size, "sk", 2));
    mask_done(&mask);
    assert_int_equal(mask_init(&mask, NULL, 0), 0);
    memcpy(buffer + MASK_HELD_MAX, "sk", 2);
    assert_int_equal(mask_run(&mask, buffer, 2, &from, &n), 0);
    assert_ptr_equal(from, buffer + MASK_HELD_MAX);
    assert_int_equal(n, 2);
    mask_done(&mask);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_secret_is_masked_wherever_it_is_cut),
        cmocka_unit_test(a_secret_that_lies_in_several_chunks_is_masked),
        cmocka_unit_test(an_answer_behind_another_is_read_like_it),
        cmocka_unit_test(chunks_that_are_none_end_it),
        cmocka_unit_test(what_is_compressed_ends_it),
        cmocka_unit_test(what_is_held_back_has_a_bound),
        cmocka_unit_test(only_a_beginning_of_it_is_held_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
