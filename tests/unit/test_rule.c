/* test_rule.c - policy files: what is read, and what is refused with its line. */
#include "own.h"
#include "rule.h"
#include "text.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int find_user(void *context, const char *name, uint32_t *ret_uid)
{
    if (strcmp(name, "root") == 0)
        *ret_uid = 0;
    else if (strcmp(name, "ann") == 0)
        *ret_uid = 1000;
    else
        return -ENOENT;
    return 0;
}

static int find_group(void *context, const char *name, uint32_t *ret_gid)
{
    if (strcmp(name, "saphan") != 0)
        return -ENOENT;
    *ret_gid = 990;
    return 0;
}

static const struct name_resolver resolver = {find_user, find_group, NULL};

static int parse(struct policy *policy, const char *text, struct strict_ini_error *error)
{
    return policy_parse(policy, "t.policy", text, &resolver, error);
}

static void a_whole_rule(void **state)
{
    static const char text[] = "# a comment\n"
                               "; another\n"
                               "\n"
                               "[allow one]\n"
                               "User=ann 1001\n"
                               "User=root\n"
                               "Group=saphan 20\n"
                               "Boundary=domain container\n"
                               "View=minimal host\n"
                               "Net=none host door\n"
                               "Vendor=proc codex-2\n"
                               "Read=/ ~\n"
                               "Write=~/work /srv \"/mnt/two words\"\n"
                               "Carve-Out=.envrc a/b\n"
                               "Require-Rung=landlock pidns\n"
                               "Limit-Ceiling=tasks=512 memory=16G\n"
                               "Limit-Ceiling=wall=2h\n"
                               "Limit-Default = memory=4G \n"
                               "Legs-At-Once=8\n"
                               "Legs-Per-Minute=60\n"
                               "Operator=yes";
    struct policy policy = {0};
    struct strict_ini_error error = {0};
    const struct rule *rule;

    assert_int_equal(parse(&policy, text, &error), 0);
    assert_int_equal(policy.n_rules, 1);
    rule = policy.rules;
    assert_string_equal(rule->name, "one");
    assert_string_equal(rule->file, "t.policy");
    assert_int_equal(rule->line, 4);
    assert_false(rule->any_user);
    assert_int_equal(rule->n_users, 3);
    assert_int_equal(rule->users[0], 1000);
    assert_int_equal(rule->users[1], 1001);
    assert_int_equal(rule->users[2], 0);
    assert_int_equal(rule->n_groups, 2);
    assert_int_equal(rule->groups[0], 990);
    assert_int_equal(rule->groups[1], 20);
    assert_int_equal(rule->boundaries, 1U << BOUNDARY_DOMAIN | 1U << BOUNDARY_CONTAINER);
    assert_int_equal(rule->views, 1U << VIEW_MINIMAL | 1U << VIEW_HOST);
    assert_int_equal(rule->nets, 1U << NET_NONE | 1U << NET_HOST | 1U << NET_DOOR);
    assert_int_equal(rule->n_vendors, 2);
    assert_string_equal(rule->vendors[1], "codex-2");
    assert_int_equal(rule->n_read_ceilings, 2);
    assert_string_equal(rule->read_ceilings[1], "~");
    assert_int_equal(rule->n_write_ceilings, 3);
    assert_string_equal(rule->write_ceilings[0], "~/work");
    assert_string_equal(rule->write_ceilings[2], "/mnt/two words");
    assert_int_equal(rule->n_carve_outs, 2);
    assert_string_equal(rule->carve_outs[1], "a/b");
    assert_true(rule->demanded_rungs == (UINT64_C(1) << RUNG_LANDLOCK | UINT64_C(1) << RUNG_PIDNS));
    assert_true(rule->ceiling.tasks == 512 && rule->ceiling.memory == 16ULL << 30);
    assert_true(rule->ceiling.wall_ms == 7200000 && rule->ceiling.files == 0);
    assert_true(rule->standard.memory == 4ULL << 30);
    assert_int_equal(rule->legs_at_once, 8);
    assert_int_equal(rule->legs_per_minute, 60);
    assert_true(rule->see_all);
    policy_done(&policy);
    assert_int_equal(policy.n_rules, 0);
    policy_done(&policy);
}

static void what_is_left_out_is_the_narrowest(void **state)
{
    struct policy policy = {0};
    struct strict_ini_error error;
    const struct rule *rule;

    assert_int_equal(parse(&policy, "[allow x]\nUser=*\n", &error), 0);
    rule = policy.rules;
    assert_true(rule->any_user);
    assert_int_equal(rule->n_users, 0);
    assert_int_equal(rule->boundaries, 1U << BOUNDARY_DOMAIN);
    assert_int_equal(rule->views, 1U << VIEW_MINIMAL);
    assert_int_equal(rule->nets, 1U << NET_NONE);
    assert_int_equal(rule->n_vendors, 1);
    assert_string_equal(rule->vendors[0], "proc");
    assert_int_equal(rule->n_read_ceilings, 0);
    assert_int_equal(rule->n_write_ceilings, 0);
    assert_false(rule->see_all);
    policy_done(&policy);
}

static void rules_stand_in_their_order(void **state)
{
    struct policy policy = {0};
    struct strict_ini_error error;

    assert_int_equal(parse(&policy, "[allow b]\nUser=1\n[allow a]\nUser=2\n", &error), 0);
    assert_int_equal(
        policy_parse(&policy, "u.policy", "[allow c]\nUser=3\n", &resolver, &error), 0);
    assert_int_equal(policy.n_rules, 3);
    assert_string_equal(policy.rules[0].name, "b");
    assert_string_equal(policy.rules[1].name, "a");
    assert_string_equal(policy.rules[2].name, "c");
    assert_string_equal(policy.rules[2].file, "u.policy");
    policy_done(&policy);
}

static const struct {
    const char *text;
    unsigned int line;
    const char *found; /* stands in the message */
} wrong[] = {
    {"", 0, "no rule"},
    {"\n\n# nothing\n", 0, "no rule"},
    {"User=ann\n", 1, "before the first section"},
    {"\xef\xbb\xbf[allow x]\nUser=ann\n", 1, "before the first section"},
    {"[allow x]\n", 1, "names nobody"},
    {"[allow x]\nVendor=*\n[allow y]\nUser=ann\n", 1, "names nobody"},
    {"[allow x]\nUser=ann\n\n[allow x]\nUser=ann\n", 4, "t.policy:1"},
    {"[allow]\n", 1, "[allow NAME]"},
    {"[allow ]\n", 1, "[allow NAME]"},
    {"[allow a b]\n", 1, "bad name"},
    {"[allow x] y\n", 1, "not a section"},
    {"[allow x\n", 1, "not a section"},
    {"[deny x]\n", 1, "unknown section"},
    {"[Allow x]\n", 1, "unknown section"},
    {"[]\n", 1, "not a section"},
    {"[allow a2345678901234567890123456789012x]\n", 1, "bad name"},
    {"[allow x]\nUser=ann\nuser=ann\n", 3, "unknown key `user`"},
    {"[allow x]\nUser=ann\nColour=red\n", 3, "unknown key `Colour`"},
    {"[allow x]\nUser=ann\nColour=red\n", 3, "User Group"},
    {"[allow x]\nUser=ann\nColour=red\n", 3, "Require-Cell Measure"},
    {"[allow x]\n=ann\n", 2, "unknown key"},
    {"[allow x]\nUser\n", 2, "Key=value"},
    {"[allow x]\nUser: ann\n", 2, "Key=value"},
    {"[allow x]\nUs:er=ann\n", 2, "Key=value"},
    {"[allow x]\nUser=\n", 2, "no value"},
    {"[allow x]\nUser=ann\n 1001\n", 3, "white space"},
    {"[allow x]\nUser=ann ; and more\n", 2, "comment behind"},
    {"[allow x]\nUser=ann # and more\n", 2, "comment behind"},
    {"[allow x]\r\nUser=ann\r\n", 1, "carriage return"},
    {"[allow x]\nUser=a\001n\n", 2, "control character"},
    {"[allow x]\nUser=01\n", 2, "`01`"},
    {"[allow x]\nUser=0x1\n", 2, "`0x1`"},
    {"[allow x]\nUser=-1\n", 2, "`-1`"},
    {"[allow x]\nUser=+1\n", 2, "`+1`"},
    {"[allow x]\nUser=1:0\n", 2, "`1:0`"},
    {"[allow x]\nUser=1,2\n", 2, "`1,2`"},
    {"[allow x]\nUser=0 00\n", 2, "`00`"},
    {"[allow x]\nUser=4294967295\n", 2, "no user"},
    {"[allow x]\nUser=4294967296\n", 2, "no user"},
    {"[allow x]\nUser=18446744073709551616\n", 2, "no user"},
    {"[allow x]\nUser=\"\"\n", 2, "quote"},
    {"[allow x]\nUser=bob\n", 2, "no user `bob`"},
    {"[allow x]\nUser=Root\n", 2, "no user `Root`"},
    {"[allow x]\nUser=\"root \"\n", 2, "no user"},
    {"[allow x]\nGroup=*\n", 2, "no group"},
    {"[allow x]\nGroup=bob\n", 2, "no group `bob`"},
    {"[allow x]\nUser=ann\nBoundary=none\n", 3, "no unconfined mode"},
    {"[allow x]\nUser=ann\nBoundary=jail\n", 3, "domain, container"},
    {"[allow x]\nUser=ann\nView=all\n", 3, "minimal, host"},
    {"[allow x]\nUser=ann\nView=minimal,host\n", 3, "minimal,host"},
    {"[allow x]\nUser=ann\nNet=yes\n", 3, "none, host, door"},
    {"[allow x]\nUser=ann\nVendor=Codex\n", 3, "`Codex`"},
    {"[allow x]\nUser=ann\nVendor=../x\n", 3, "`../x`"},
    {"[allow x]\nUser=ann\nRead=srv\n", 3, "ceiling"},
    {"[allow x]\nUser=ann\nRead=/srv/\n", 3, "ceiling"},
    {"[allow x]\nUser=ann\nRead=/srv/../etc\n", 3, "ceiling"},
    {"[allow x]\nUser=ann\nWrite=//srv\n", 3, "ceiling"},
    {"[allow x]\nUser=ann\nWrite=~root\n", 3, "ceiling"},
    {"[allow x]\nUser=ann\nWrite=~/\n", 3, "ceiling"},
    {"[allow x]\nUser=ann\nWrite=~/../x\n", 3, "ceiling"},
    {"[allow x]\nUser=ann\nWrite=\"/a\n", 3, "quote"},
    {"[allow x]\nUser=ann\nWrite=\"/a\"/b\n", 3, "quote"},
    {"[allow x]\nUser=ann\nWrite=/a\"b\"\n", 3, "quote"},
    {"[allow x]\nUser=ann\nCarve-Out=/x\n", 3, "carve-out"},
    {"[allow x]\nUser=ann\nCarve-Out=a/../b\n", 3, "carve-out"},
    {"[allow x]\nUser=ann\nCarve-Out=..\n", 3, "carve-out"},
    {"[allow x]\nUser=ann\nCarve-Out=~/x\n", 3, "carve-out"},
    {"[allow x]\nUser=ann\nRequire-Rung=Landlock\n", 3, "unknown rung `Landlock`"},
    {"[allow x]\nUser=ann\nLimit-Ceiling=memory=-1\n", 3, "memory=-1"},
    {"[allow x]\nUser=ann\nLimit-Ceiling=memory=10X\n", 3, "memory=10X"},
    {"[allow x]\nUser=ann\nLimit-Ceiling=memory=0\n", 3, "bad limit"},
    {"[allow x]\nUser=ann\nLimit-Ceiling=memory\n", 3, "bad limit"},
    {"[allow x]\nUser=ann\nLimit-Ceiling=memory=1G,tasks=3\n", 3, "bad limit"},
    {"[allow x]\nUser=ann\nLimit-Ceiling=cores=4\n", 3, "unknown limit `cores`"},
    {"[allow x]\nUser=ann\nLimit-Default=cpu=50 cpu=60\n", 3, "given twice"},
    {"[allow x]\nUser=ann\nLimit-Default=cpu=60\nLimit-Ceiling=cpu=50\n", 1, "above"},
    {"[allow x]\nUser=ann\nLegs-At-Once=0\n", 3, "number of legs"},
    {"[allow x]\nUser=ann\nLegs-At-Once=-1\n", 3, "number of legs"},
    {"[allow x]\nUser=ann\nLegs-At-Once=1 2\n", 3, "one word"},
    {"[allow x]\nUser=ann\nLegs-At-Once=1\nLegs-At-Once=2\n", 4, "given twice"},
    {"[allow x]\nUser=ann\nLegs-Per-Minute=many\n", 3, "number of legs"},
    {"[allow x]\nUser=ann\nOperator=true\n", 3, "yes nor no"},
    {"[allow x]\nUser=ann\nCapabilities=CAP_SYS_ADMIN\n", 3, "known are CAP_CHOWN"},
    {"[allow x]\nUser=ann\nCapabilities=cap_chown\n", 3, "`cap_chown`"},
    {"[allow x]\nUser=ann\nCapabilities=CAP_CHOWN,CAP_FOWNER\n", 3, "no capability"},
    {"[allow x]\nUser=ann\nCapabilities=\n", 3, "no value"},
    {"[allow x]\nUser=ann\nImage=a*b\n", 3, "no image"},
    {"[allow x]\nUser=ann\nImage-Bytes=0\n", 3, "no size"},
    {"[allow x]\nUser=ann\nImage-Entries=-1\n", 3, "number of files"},
};

static void what_is_wrong_is_said_with_its_line(void **state)
{
    for (size_t i = 0; i < array_size(wrong); i++) {
        struct policy policy = {0};
        struct strict_ini_error error = {.line = 9999};
        int r = parse(&policy, wrong[i].text, &error);

        if (r != -EINVAL || error.line != wrong[i].line || !strstr(error.message, wrong[i].found))
            fail_msg("row %zu: %d, line %u, not %u: `%s` lacks `%s`", i, r, error.line,
                wrong[i].line, error.message, wrong[i].found);
        assert_int_equal(policy.n_rules, 0);
        policy_done(&policy);
    }
}

static void a_bad_file_leaves_the_policy_as_it_was(void **state)
{
    struct policy policy = {0};
    struct strict_ini_error error;

    assert_int_equal(parse(&policy, "[allow x]\nUser=ann\n", &error), 0);
    assert_int_equal(
        policy_parse(&policy, "u", "[allow y]\nUser=ann\n[allow z]\nFoo=1\n", &resolver, &error),
        -EINVAL);
    assert_int_equal(policy.n_rules, 1);
    /* A name is one rule's in the whole policy. */
    assert_int_equal(
        policy_parse(&policy, "u", "[allow x]\nUser=1001\n", &resolver, &error), -EINVAL);
    assert_non_null(strstr(error.message, "t.policy:1"));
    assert_int_equal(policy.n_rules, 1);
    assert_string_equal(policy.rules[0].name, "x");
    policy_done(&policy);
}

static void a_line_that_is_too_long(void **state)
{
    char text[1024] = "[allow x]\nUser=ann\nRead=/";
    struct policy policy = {0};
    struct strict_ini_error error;
    size_t begin = strlen("[allow x]\nUser=ann\n");

    memset(text + strlen(text), 'a', 199 - strlen("Read=/"));
    assert_int_equal(strlen(text) - begin, 199);
    assert_int_equal(parse(&policy, text, &error), 0);
    assert_int_equal(strlen(policy.rules[0].read_ceilings[0]), 199 - strlen("Read="));
    policy_done(&policy);
    text[strlen(text)] = 'a';
    assert_int_equal(parse(&policy, text, &error), -EINVAL);
    assert_int_equal(error.line, 3);
    assert_non_null(strstr(error.message, "199 bytes"));
    /* A comment of that length is refused too: inih would cut it and read on. */
    text[begin] = '#';
    assert_int_equal(parse(&policy, text, &error), -EINVAL);
}

static void lists_are_bounded(void **state)
{
    static const char *const words[] = {"User", "Group", "Vendor", "Read", "Write", "Carve-Out"};

    for (size_t w = 0; w < array_size(words); w++) {
        for (int more = 0; more <= 1; more++) {
            auto_free char *text = strdup("[allow x]\nUser=ann\n");
            struct policy policy = {0};
            struct strict_ini_error error;
            int fits = RULE_LIST_MAX - (w == 0 ? 1 : 0);

            for (int i = 0; i < fits + more; i++) {
                char *longer =
                    text_format("%s%s=%s%d\n", text, words[w], w == 3 || w == 4 ? "/" : "", i + 1);

                free(text);
                text = longer;
            }
            assert_int_equal(parse(&policy, text, &error), more ? -EINVAL : 0);
            if (more)
                assert_non_null(strstr(error.message, "more than 64"));
            policy_done(&policy);
        }
    }
}

static void names_need_a_resolver(void **state)
{
    static const struct name_resolver none = {NULL, NULL, NULL};
    struct policy policy = {0};
    struct strict_ini_error error;

    assert_int_equal(policy_parse(&policy, "t", "[allow x]\nUser=7\nGroup=8\n", NULL, &error), 0);
    assert_int_equal(policy_parse(&policy, "t", "[allow y]\nUser=ann\n", NULL, &error), -EINVAL);
    assert_int_equal(policy_parse(&policy, "t", "[allow y]\nGroup=x\n", &none, &error), -EINVAL);
    policy_done(&policy);
}

/* Any cut of, and any byte changed in a good file: decided, and an error always has a message. */
static void spoilt_files(void **state)
{
    static const char good[] = "[allow x]\nUser=ann 5\nRead=/ ~/a\nLimit-Default=tasks=9\n"
                               "[allow y]\nGroup=saphan\nWrite=\"/s r\"\nOperator=no\n";

    for (size_t at = 0; at < sizeof(good) - 1; at++) {
        for (unsigned int c = 0; c < 256; c++) {
            char text[sizeof(good)];
            struct policy policy = {0};
            struct strict_ini_error error = {0};

            memcpy(text, good, sizeof(good));
            text[at] = (char)c; /* 0: cut there */
            if (parse(&policy, text, &error) != 0) {
                assert_true(error.message[0]);
                assert_int_equal(policy.n_rules, 0);
            }
            policy_done(&policy);
        }
    }
}

static void the_shipped_policy(void **state)
{
    static char text[8192];
    struct policy policy = {0};
    struct strict_ini_error error = {0};
    FILE *file = fopen(SHIPPED_POLICY, "re");
    const struct rule *rule;

    assert_non_null(file);
    (void)!fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    if (parse(&policy, text, &error) != 0)
        fail_msg("line %u: %s", error.line, error.message);
    assert_int_equal(policy.n_rules, 2);
    rule = policy.rules;
    assert_false(rule->image_add); /* root's alone */
    assert_int_equal(policy.rules[1].n_users, 1);
    assert_true(policy.rules[1].users[0] == 0 && policy.rules[1].image_add);
    assert_false(rule->any_user || rule->see_all);
    assert_int_equal(rule->boundaries, 1U << BOUNDARY_DOMAIN | 1U << BOUNDARY_CONTAINER);
    assert_int_equal(rule->views, 1U << VIEW_MINIMAL);
    assert_int_equal(rule->nets, 1U << NET_NONE);
    for (size_t i = 0; i < rule->n_write_ceilings; i++)
        assert_string_not_equal(rule->write_ceilings[i], "/");
    policy_done(&policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_rule),
        cmocka_unit_test(what_is_left_out_is_the_narrowest),
        cmocka_unit_test(rules_stand_in_their_order),
        cmocka_unit_test(what_is_wrong_is_said_with_its_line),
        cmocka_unit_test(a_bad_file_leaves_the_policy_as_it_was),
        cmocka_unit_test(a_line_that_is_too_long),
        cmocka_unit_test(lists_are_bounded),
        cmocka_unit_test(names_need_a_resolver),
        cmocka_unit_test(spoilt_files),
        cmocka_unit_test(the_shipped_policy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
