/* test_nesting.c - would this command run a sandbox inside ours: precedence, files, the remedy. */
#include "admit_fixture.h"
#include "nesting.h"

static const char parrot[] = "[vendor]\n"
                             "Name=parrot\n"
                             "Program=parrot parrot.js\n"
                             "Sandbox=on\n"
                             "Bypass=--fly\n"
                             "Moves-Settings=PARROT_HOME\n"
                             "Remedy=--cage off\n"
                             "Remedy-After=sing\n"
                             "Remedy-Variable=PARROT_CAGE=0\n"
                             "[switch fly]\n"
                             "Flag=--fly\n"
                             "Off=true\n"
                             "On=false\n"
                             "[switch cage]\n"
                             "Flag=-c --cage\n"
                             "Takes=value\n"
                             "On=open closed\n"
                             "Off=off\n"
                             "[switch key]\n"
                             "Flag=-k\n"
                             "Takes=key-value\n"
                             "Key=cage\n"
                             "On=closed\n"
                             "Off=off\n"
                             "[switch json]\n"
                             "Flag=--settings\n"
                             "Takes=json\n"
                             "Key=cage.on\n"
                             "On=true\n"
                             "Off=false\n"
                             "[switch variable]\n"
                             "Variable=PARROT_CAGE\n"
                             "On=1\n"
                             "Off=0\n"
                             "[switch file]\n"
                             "Settings=home:.parrot/settings.json\n"
                             "Key=cage.on\n"
                             "On=true\n"
                             "Off=false\n"
                             "Remedy=rm settings.json\n"
                             "[probe look]\n"
                             "Call=unshare\n"
                             "Flags=0x50000000\n"
                             "Comm=unshare\n";

struct nest {
    struct profile profile;
    struct nesting_question questions[NESTING_QUESTIONS_MAX];
    struct nesting result;
};

static int start(void **state)
{
    static struct nest nest;
    struct strict_ini_error error = {0};

    if (profile_parse("parrot", "parrot.vendor", parrot, &nest.profile, &error) != 0)
        return -1;
    *state = &nest;
    return 0;
}

static int end(void **state)
{
    profile_done(&((struct nest *)*state)->profile);
    return 0;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct nesting_command command_of(const char *const *argv, const char *const *env)
{
    struct nesting_command command = {.argv = argv, .env = env};

    while (argv[command.argc])
        command.argc++;
    while (env && env[command.n_env])
        command.n_env++;
    return command;
}

static struct nesting *judge(struct nest *nest, const char *const *argv, const char *const *env,
    const struct nesting_answer *answers, uint32_t n_answers)
{
    struct nesting_command command = command_of(argv, env);

    assert_int_equal(nesting_questions(&nest->profile, &command, nest->questions), n_answers);
    nesting_judge(&nest->profile, &command, answers, n_answers, &nest->result);
    return &nest->result;
}

static const struct nesting_answer nothing[] = {{.found = FOUND_NOTHING}, {.found = FOUND_NOTHING}};

static void flags_outrank_files_and_no_file_is_asked_for(void **state)
{
    static const struct {
        const char *argv[6];
        enum sandbox sandbox;
        const char *where;
    } cases[] = {
        {{"parrot", "--fly", "-c", "closed"}, SANDBOX_OFF, NULL},
        {{"parrot", "--fly=false"}, SANDBOX_ON, "the command: --fly = false"},
        {{"/opt/bin/parrot.js", "-c", "off"}, SANDBOX_OFF, NULL},
        {{"node", "/x/parrot.js", "-coff"}, SANDBOX_OFF, NULL},
        {{"parrot", "--cage=closed"}, SANDBOX_ON, "-c = closed"},
        {{"parrot", "-c", "off", "-c", "open"}, SANDBOX_ON, "-c = open"},
        {{"parrot", "-c", "half"}, SANDBOX_UNKNOWN, "knows nothing"},
        {{"parrot", "-c"}, SANDBOX_UNKNOWN, "knows nothing"},
        {{"parrot", "-k", "cage = \"off\""}, SANDBOX_OFF, NULL},
        {{"parrot", "-k", "song=off", "-k", "cage=closed"}, SANDBOX_ON, "-k cage = closed"},
        {{"env", "PARROT_CAGE=0", "parrot"}, SANDBOX_OFF, NULL},
    };

    for (size_t i = 0; i < array_size(cases); i++) {
        const struct nesting *found = judge(*state, cases[i].argv, NULL, NULL, 0);

        assert_int_equal(found->sandbox, cases[i].sandbox);
        assert_int_equal(
            found->reason, cases[i].where ? REASON_NESTED_SANDBOX_REQUESTED : REASON_NONE);
        if (cases[i].where && !strstr(found->detail, cases[i].where))
            fail_msg("%s", found->detail);
    }
}

static void what_stands_behind_two_dashes_is_the_prompt(void **state)
{
    assert_int_equal(
        judge(*state, WORDS("parrot", "--", "--fly"), NULL, nothing, 1)->sandbox, SANDBOX_ON);
}

static void a_variable_decides_before_the_file(void **state)
{
    assert_int_equal(
        judge(*state, WORDS("parrot"), WORDS("PARROT_CAGE=0"), NULL, 0)->sandbox, SANDBOX_OFF);
    assert_non_null(strstr(judge(*state, WORDS("parrot"), WORDS("PARROT_CAGE=1"), NULL, 0)->detail,
        "PARROT_CAGE = 1"));
}

static void files_are_asked_about_and_never_guessed(void **state)
{
    struct nest *nest = *state;
    const struct nesting_answer on = {.found = FOUND_VALUE, .value = "true"};
    const struct nesting_answer off = {.found = FOUND_VALUE, .value = "false"};
    const struct nesting_answer broken = {.found = FOUND_BROKEN, .why = "line 3: no `}`"};
    const struct nesting_answer unset = {.found = FOUND_UNSET};
    const char *const *argv = WORDS("parrot");

    assert_int_equal(judge(nest, argv, NULL, &off, 1)->sandbox, SANDBOX_OFF);
    assert_int_equal(nest->questions[0].place, PLACE_HOME);
    assert_string_equal(nest->questions[0].key, "cage.on");
    assert_int_equal(judge(nest, argv, NULL, &on, 1)->reason, REASON_NESTED_SANDBOX_REQUESTED);
    assert_non_null(strstr(nest->result.detail, "first run: rm settings.json"));
    assert_int_equal(judge(nest, argv, NULL, nothing, 1)->sandbox, SANDBOX_ON); /* the default */
    assert_int_equal(judge(nest, argv, NULL, &broken, 1)->reason, REASON_SETTINGS_UNREADABLE);
    assert_non_null(strstr(nest->result.detail, "line 3"));
    assert_int_equal(judge(nest, argv, NULL, &unset, 1)->reason, REASON_SETTINGS_UNREADABLE);
    assert_int_equal(
        judge(nest, argv, WORDS("PARROT_HOME=/x"), &off, 1)->reason, REASON_SETTINGS_UNREADABLE);
}

static void json_in_the_command_is_asked_about_first(void **state)
{
    struct nest *nest = *state;
    const struct nesting_answer off_then_on[] = {
        {.found = FOUND_VALUE, .value = "false"}, {.found = FOUND_VALUE, .value = "true"}};
    const struct nesting_answer none_then_on[] = {
        {.found = FOUND_NOTHING}, {.found = FOUND_VALUE, .value = "true"}};
    const char *const *argv = WORDS("parrot", "--settings", "{\"cage\":{}}");

    assert_int_equal(judge(nest, argv, NULL, off_then_on, 2)->sandbox, SANDBOX_OFF);
    assert_string_equal(nest->questions[0].text, "{\"cage\":{}}");
    assert_int_equal(judge(nest, argv, NULL, none_then_on, 2)->sandbox, SANDBOX_ON);
}

static void a_command_without_the_program_is_refused(void **state)
{
    assert_int_equal(judge(*state, WORDS("sh", "-c", "parrot --fly"), NULL, NULL, 0)->reason,
        REASON_VENDOR_NOT_IN_COMMAND);
}

static void the_bypass_is_found(void **state)
{
    assert_string_equal(judge(*state, WORDS("parrot", "--fly"), NULL, NULL, 0)->bypass, "--fly");
    assert_string_equal(
        judge(*state, WORDS("parrot", "-coff", "--", "--fly"), NULL, NULL, 0)->bypass, "");
}

static void the_remedy_can_be_pasted(void **state)
{
    struct nest *nest = *state;
    struct nesting_command command =
        command_of(WORDS("with", "parrot", "-v", "sing", "-c", "closed", "a \"b\" 'c'"), NULL);
    char out[256], small[16];

    assert_int_equal(nesting_remedy(&nest->profile, &command, out, sizeof(out)), 0);
    assert_string_equal(out, "--env PARROT_CAGE=0 -- with parrot -v sing --cage off "
                             "'a \"b\" '\"'\"'c'\"'\"''");
    assert_int_equal(nesting_remedy(&nest->profile, &command, small, sizeof(small)), -E2BIG);
    command = command_of(WORDS("parrot", "a\nb"), NULL);
    assert_int_equal(nesting_remedy(&nest->profile, &command, out, sizeof(out)), -E2BIG);
}

static void a_probe_is_that_call_and_no_other(void **state)
{
    const struct profile *profile = &((struct nest *)*state)->profile;

    assert_true(nesting_is_probe(profile, "unshare", 0x50000000, "unshare"));
    assert_false(nesting_is_probe(profile, "unshare", 0x10000000, "unshare"));
    assert_false(nesting_is_probe(profile, "clone", 0x50000000, "unshare"));
    assert_false(nesting_is_probe(profile, "unshare", 0x50000000, "bwrap"));
}

/* -- what admit() makes of it -- */

static void admit_refuses_what_would_nest(void **state)
{
    static const char rule[] = "[allow a]\nUser=1000\nVendor=*\n";
    struct nest *nest = *state;
    struct fixture fixture;

    fixture_start(&fixture, rule);
    fixture.request.vendor = "parrot";
    assert_int_equal(fixture_decide(&fixture)->refusals[0].reason, REASON_VENDOR_UNKNOWN);
    fixture.request.profile = &nest->profile;
    fixture.request.nesting = judge(nest, WORDS("parrot", "-c", "open"), NULL, NULL, 0);
    assert_int_equal(fixture_decide(&fixture)->refusals[0].reason, REASON_NESTED_SANDBOX_REQUESTED);
    fixture.request.nesting = judge(nest, WORDS("parrot", "--fly"), NULL, NULL, 0);
    assert_int_equal(fixture_decide(&fixture)->n_refusals, 0);
    fixture.request.boundary = BOUNDARY_NONE;
    assert_int_equal(fixture_decide(&fixture)->refusals[0].reason, REASON_BYPASS_WITHOUT_BOUNDARY);
    fixture_end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_outrank_files_and_no_file_is_asked_for),
        cmocka_unit_test(what_stands_behind_two_dashes_is_the_prompt),
        cmocka_unit_test(a_variable_decides_before_the_file),
        cmocka_unit_test(files_are_asked_about_and_never_guessed),
        cmocka_unit_test(json_in_the_command_is_asked_about_first),
        cmocka_unit_test(a_command_without_the_program_is_refused),
        cmocka_unit_test(the_bypass_is_found),
        cmocka_unit_test(the_remedy_can_be_pasted),
        cmocka_unit_test(a_probe_is_that_call_and_no_other),
        cmocka_unit_test(admit_refuses_what_would_nest),
    };

    return cmocka_run_group_tests(tests, start, end);
}
