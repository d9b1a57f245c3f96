/* test_environment.c - what a leg finds in its environment, and nothing else. */
#include "environment.h"
#include "own.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct leg_surroundings about = {
    .leg = 41, .uid = 1000, .home = "/home/leg", .user = "ann"};

static size_t count_of(char **list)
{
    size_t count = 0;

    while (list[count])
        count++;
    return count;
}

/* The value of NAME; a failure when it stands twice. */
static const char *value_of(char **list, const char *name)
{
    const char *found = NULL;
    size_t length = strlen(name);

    for (; *list; list++) {
        if (strncmp(*list, name, length) == 0 && (*list)[length] == '=') {
            assert_null(found);
            found = *list + length + 1;
        }
    }
    return found;
}

static void the_documented_few(void **state)
{
    static const struct {
        const char *name, *value;
    } few[] = {
        {"PATH", "/usr/local/bin:/usr/bin:/bin"},
        {"HOME", "/home/leg"},
        {"LANG", "C.UTF-8"},
        {"TERM", "dumb"},
        {"TMPDIR", "/tmp"},
        {"USER", "ann"},
        {"LOGNAME", "ann"},
        {"SHELL", "/bin/sh"},
        {"SAPHAN_LEG", "41"},
    };
    char **list = NULL;

    assert_int_equal(environment_compose(&about, NULL, 0, &list, NULL), 0);
    assert_int_equal(count_of(list), array_size(few));
    for (size_t i = 0; i < array_size(few); i++)
        assert_string_equal(value_of(list, few[i].name), few[i].value);
    environment_free(list);
}

static void root_has_the_sbin_directories(void **state)
{
    struct leg_surroundings root = {.leg = 1, .uid = 0, .home = "/root"};
    char **list = NULL;

    assert_int_equal(environment_compose(&root, NULL, 0, &list, NULL), 0);
    assert_string_equal(
        value_of(list, "PATH"), "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    assert_string_equal(value_of(list, "USER"), "0");
    environment_free(list);
}

static void the_request_wins(void **state)
{
    static const char *const requested[] = {
        "TERM=xterm", "A=1", "HOME=", "B=x=y", "A=2", "PATH=/x", "PATHS=1"};
    char **list = NULL;

    assert_int_equal(environment_compose(&about, requested, array_size(requested), &list, NULL), 0);
    assert_string_equal(value_of(list, "TERM"), "xterm");
    assert_string_equal(value_of(list, "A"), "2");
    assert_string_equal(value_of(list, "B"), "x=y");
    assert_string_equal(value_of(list, "HOME"), "");
    assert_string_equal(value_of(list, "PATH"), "/x");
    assert_string_equal(value_of(list, "PATHS"), "1");
    assert_int_equal(count_of(list), 9 + 3);
    environment_free(list);
}

static void the_leg_is_what_we_say(void **state)
{
    static const char *const requested[] = {"SAPHAN_LEG=7"};
    char **list = NULL;

    assert_int_equal(environment_compose(&about, requested, 1, &list, NULL), 0);
    assert_string_equal(value_of(list, "SAPHAN_LEG"), "41");
    environment_free(list);
}

static void bad_names(void **state)
{
    static const char *const bad[] = {"", "=", "=x", "NAME"};

    for (size_t i = 0; i < array_size(bad); i++) {
        const char *requested[] = {"GOOD=1", bad[i]};
        const char *at_fault = NULL;
        char **list = NULL;

        assert_int_equal(
            environment_compose(&about, requested, 2, &list, &at_fault), ENVIRONMENT_E_NAME);
        assert_null(list);
        assert_ptr_equal(at_fault, bad[i]);
        assert_int_equal(
            environment_compose(&about, requested, 2, &list, NULL), ENVIRONMENT_E_NAME);
    }
}

/* With a door where it is, in the words that each program knows; those of a runtime as its profile
 * says. */
static void where_the_door_is(void **state)
{
    static const char *const names[] = {"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy",
        "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"};

    for (unsigned int i = 0; i < 8; i++) {
        struct leg_surroundings around = about;
        char **list = NULL;
        const char *java;

        around.door = i & 1;
        around.node = i & 2;
        around.jvm = i & 4;
        assert_int_equal(environment_compose(&around, NULL, 0, &list, NULL), 0);
        for (size_t k = 0; k < array_size(names); k++) {
            const char *value = value_of(list, names[k]);

            if (!around.door)
                assert_null(value);
            else
                assert_string_equal(
                    value, k < 6 ? "http://127.0.0.1:3128" : "localhost,127.0.0.1,::1");
        }
        assert_true(!value_of(list, "NODE_USE_ENV_PROXY") == !(around.door && around.node));
        java = value_of(list, "JAVA_TOOL_OPTIONS");
        assert_true(!java == !(around.door && around.jvm));
        assert_true(!java || (strstr(java, "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128") &&
                                 strstr(java, "-Dhttps.proxyHost=127.0.0.1")));
        environment_free(list);
    }
}

static void too_many(void **state)
{
    static char texts[ENVIRONMENT_MAX][16];
    static const char *requested[ENVIRONMENT_MAX];
    char **list = NULL;

    for (size_t i = 0; i < ENVIRONMENT_MAX; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "V%zu=", i);
        requested[i] = texts[i];
    }
    assert_int_equal(environment_compose(&about, requested, ENVIRONMENT_MAX - 9, &list, NULL), 0);
    assert_int_equal(count_of(list), ENVIRONMENT_MAX);
    environment_free(list);
    list = NULL;
    assert_int_equal(environment_compose(&about, requested, ENVIRONMENT_MAX - 8, &list, NULL),
        ENVIRONMENT_E_TOO_MANY);
    assert_null(list);
    environment_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documented_few),
        cmocka_unit_test(root_has_the_sbin_directories),
        cmocka_unit_test(the_request_wins),
        cmocka_unit_test(the_leg_is_what_we_say),
        cmocka_unit_test(bad_names),
        cmocka_unit_test(where_the_door_is),
        cmocka_unit_test(too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
