/* libsaphan as others get it: the public header alone, the shared library, no protobuf to be seen.
 */
#include <saphan.h>

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define CALL(name)                                                                                 \
    {                                                                                              \
#name, (void (*)(void))(name)                                                              \
    }

static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {CALL(saphan_connect), CALL(saphan_adopt), CALL(saphan_close), CALL(saphan_run_init),
    CALL(saphan_run), CALL(saphan_legs), CALL(saphan_show), CALL(saphan_logs), CALL(saphan_kill),
    CALL(saphan_status), CALL(saphan_next), CALL(saphan_pollfds), CALL(saphan_limits_parse),
    CALL(saphan_artefact_parse), CALL(saphan_boundary_name), CALL(saphan_view_name),
    CALL(saphan_net_name), CALL(saphan_colour_name), CALL(saphan_leg_state_name),
    CALL(saphan_boundary_parse), CALL(saphan_view_parse), CALL(saphan_net_parse)};

static void every_call_of_the_header_is_exported(void **state)
{
    void *library = dlopen("libsaphan.so.0", RTLD_NOW | RTLD_NOLOAD);

    assert_non_null(library);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        assert_non_null(calls[i].call);
        assert_non_null(dlsym(library, calls[i].name));
    }
    (void)dlclose(library);
}

static void nothing_else_is(void **state)
{
    static const char *const inner[] = {"saphan__v1__run__init", "wire_send", "failure",
        "text_escape", "request_make", "arena_take"};
    void *library = dlopen("libsaphan.so.0", RTLD_NOW | RTLD_NOLOAD);

    assert_non_null(library);
    for (size_t i = 0; i < sizeof(inner) / sizeof(inner[0]); i++)
        assert_null(dlsym(library, inner[i]));
    (void)dlclose(library);
}

static void a_connection_that_fails_says_so(void **state)
{
    struct saphan *saphan = NULL;
    struct saphan_error error;

    assert_true(saphan_connect("/nonexistent/socket", &saphan, &error) < 0);
    assert_null(saphan);
    assert_string_equal(error.step, "connect");
    saphan_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_of_the_header_is_exported),
        cmocka_unit_test(nothing_else_is),
        cmocka_unit_test(a_connection_that_fails_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
