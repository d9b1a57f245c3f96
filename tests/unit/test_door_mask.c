/* A secret in a stream, wherever the stream is cut. */
#include "mask.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char secret[] = "sk-sk-secret";

/* TEXT in pieces of SIZE bytes, as it goes on. */
static void run(const char *text, size_t size, char *out)
{
    struct mask mask = {.secret = secret, .length = sizeof(secret) - 1};
    char buffer[256];
    size_t used = 0;

    for (size_t at = 0; at < strlen(text); at += size) {
        size_t part = strlen(text) - at < size ? strlen(text) - at : size, n;
        char *from;

        memcpy(buffer + mask.length, text + at, part);
        from = mask_run(&mask, buffer, part, &n);
        memcpy(out + used, from, n);
        used += n;
    }
    used += mask_end(&mask, out + used);
    out[used] = '\0';
}

static void the_secret_is_masked_wherever_it_is_cut(void **state)
{
    static const struct {
        const char *text, *masked;
    } all[] = {
        {"nothing here", "nothing here"},
        {"a sk-sk-secret b", "a ************ b"},
        {"sk-sk-secretsk-sk-secret", "************************"},
        {"sk-sk-sk-secret", "sk-************"},
        {"sk-sk-secre", "sk-sk-secre"},
        {"sk-sk-secrex sk-", "sk-sk-secrex sk-"},
        {"data: sk\n\ndata: -sk-secret\n\n", "data: sk\n\ndata: -sk-secret\n\n"},
    };
    char out[256];

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        for (size_t size = 1; size <= 40; size++) {
            run(all[i].text, size, out);
            assert_string_equal(out, all[i].masked);
        }
    }
}

static void only_a_beginning_of_it_is_held_back(void **state)
{
    struct mask mask = {.secret = secret, .length = sizeof(secret) - 1};
    char buffer[64];
    size_t n;

    memcpy(buffer + mask.length, "token\n\n", 7);
    (void)mask_run(&mask, buffer, 7, &n);
    assert_int_equal(n, 7);
    memcpy(buffer + mask.length, "ends in sk", 10);
    (void)mask_run(&mask, buffer, 10, &n);
    assert_int_equal(n, 8);
    mask = (struct mask){0};
    memcpy(buffer, "sk", 2);
    assert_ptr_equal(mask_run(&mask, buffer, 2, &n), buffer);
    assert_int_equal(n, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_secret_is_masked_wherever_it_is_cut),
        cmocka_unit_test(only_a_beginning_of_it_is_held_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
