/* test_profile.c - vendors' files: what is taken, what is wrong in one, and an invented vendor. */
#include "profile.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define VENDOR "[vendor]\nName=x\nProgram=x\nSandbox=on\n"
#define SWITCH VENDOR "[switch a]\n"

static void an_invented_vendor_is_one_file(void **state)
{
    static const char text[] = "# invented\n"
                               "[vendor]\n"
                               "Name=parrot\n"
                               "Program=parrot parrot.js\n"
                               "Measured=1.2 2026-11-30\n"
                               "Measured=1.3 2026-12-01\n"
                               "Sandbox=on\n"
                               "Remedy=--cage off\n"
                               "Home-Writable=.parrot\n"
                               "Package=yes\n"
                               "Proxy-Runtime=jvm\n"
                               "\n"
                               "[switch cage]\n"
                               "Flag=-c --cage\n"
                               "Takes=value\n"
                               "On=open closed\n"
                               "Off=off\n"
                               "[switch file]\n"
                               "Settings=home:.parrot/settings.json\n"
                               "Key=cage.on\n"
                               "On=true\n"
                               "[probe look]\n"
                               "Call=unshare\n"
                               "Flags=0x50000000\n"
                               "Comm=unshare\n"
                               "[steer song]\n"
                               "File=.parrot/song.json\n"
                               "Key=song\n"
                               "Does=changes the song\n"
                               "[budget words]\n"
                               "Exit=53\n";
    struct strict_ini_error error = {0};
    struct profile profile;

    assert_int_equal(profile_parse("parrot", "parrot.vendor", text, &profile, &error), 0);
    assert_string_equal(profile.name, "parrot");
    assert_true(words_have(&profile.programs, "parrot.js"));
    assert_int_equal(profile.measured.count, 4);
    assert_int_equal(profile.n_switches, 2);
    assert_int_equal(profile.switches[0].form, FLAG_VALUE);
    assert_int_equal(profile.switches[1].place, PLACE_HOME);
    assert_string_equal(profile.switches[1].path, ".parrot/settings.json");
    assert_int_equal(profile.probes[0].flags, 0x50000000);
    assert_string_equal(profile.steers[0].key, "song");
    assert_int_equal(profile.budgets[0].exit_status, 53);
    assert_true(profile.package);
    assert_true(profile.proxy_jvm && !profile.proxy_node);
    profile_done(&profile);
}

static const struct {
    const char *text;
    unsigned int line;
    const char *says;
} wrong[] = {
    {"", 0, "Name=x"},
    {"Name=x\n", 1, "begin with [vendor]"},
    {"[vendor]\nName=y\nProgram=y\nSandbox=on\n", 4, "Name=x"},
    {"[vendor]\nName=x\nProgram=x\n", 3, "Sandbox="},
    {"[vendor]\nName=x\nSandbox=on\n", 3, "Program="},
    {"[vendor]\nName=x\nSandbox=maybe\n", 3, "none, off, on or unsettled"},
    {VENDOR "Colour=red\n", 5, "unknown key `Colour`"},
    {VENDOR "Name=x\n", 5, "given twice"},
    {VENDOR "Version=\n", 5, "has no value"},
    {VENDOR "Home-Writable=/etc\n", 5, "no path beneath"},
    {VENDOR "Home-Writable=../x\n", 5, "no path beneath"},
    {VENDOR "Package=maybe\n", 5, "yes or no"},
    {VENDOR "Proxy-Runtime=node python\n", 5, "node and jvm"},
    {VENDOR "Proxy=A # B\n", 5, "comment behind a value"},
    {VENDOR " Proxy=A\n", 5, "white space"},
    {VENDOR "Proxy: A\n", 5, "Key=value"},
    {VENDOR "Proxy=\"A\n", 5, "quote"},
    {VENDOR "Proxy=A\r\n", 5, "carriage return"},
    {VENDOR "[vendor]\n", 5, "comes once"},
    {VENDOR "[thing a]\n", 5, "unknown section"},
    {VENDOR "[switch]\n", 5, "[kind NAME]"},
    {VENDOR "[switch A]\n", 5, "bad section"},
    {SWITCH "On=x\n", 5, "none of Flag="},
    {SWITCH "Flag=-x\n", 5, "never decide"},
    {SWITCH "Flag=x\nOn=*\n", 6, "no flag"},
    {SWITCH "Flag=-x\nVariable=X\nOn=*\n", 7, "make it two"},
    {SWITCH "Flag=-x\nTakes=key-value\nOn=*\n", 5, "give it Key="},
    {SWITCH "Flag=-x\nKey=k\nOn=*\n", 5, "takes no Key="},
    {SWITCH "Settings=elsewhere:x\nKey=k\nOn=*\n", 6, "home:PATH"},
    {SWITCH "Settings=home:/x\nKey=k\nOn=*\n", 6, "no path beneath"},
    {SWITCH "Settings=home:x\nOn=*\n", 5, "needs the Key="},
    {VENDOR "[probe a]\nCall=unshare\nFlags=12\nComm=x\n", 7, "hexadecimal"},
    {VENDOR "[budget a]\nExit=256\n", 6, "1 to 255"},
    {VENDOR "[steer a]\nFile=x\n", 6, "Does="},
    {"[vendor]\nName=x\nSandbox=none\n[switch a]\nFlag=-x\nOn=*\n", 6, "yet there is a switch"},
};

static void what_is_wrong_is_said_with_its_line(void **state)
{
    for (size_t i = 0; i < array_size(wrong); i++) {
        struct strict_ini_error error = {0};
        struct profile profile;

        if (profile_parse("x", "x.vendor", wrong[i].text, &profile, &error) != -EINVAL)
            fail_msg("taken:\n%s", wrong[i].text);
        if (error.line != wrong[i].line || !strstr(error.message, wrong[i].says))
            fail_msg("line %u: %s; of:\n%s", error.line, error.message, wrong[i].text);
    }
}

/* Every statement says whether, on what and when it was measured. */
static void all_are_marked(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->n_switches; i++)
        assert_non_null(profile->switches[i].measured);
    for (uint32_t i = 0; i < profile->n_probes; i++)
        assert_non_null(profile->probes[i].measured);
    for (uint32_t i = 0; i < profile->n_steers; i++)
        assert_non_null(profile->steers[i].measured);
    for (uint32_t i = 0; i < profile->n_budgets; i++)
        assert_non_null(profile->budgets[i].measured);
}

static void the_shipped_profiles_are_taken(void **state)
{
    static const char *const names[] = {SHIPPED_VENDORS};

    for (size_t i = 0; i < array_size(names); i++) {
        struct strict_ini_error error = {0};
        struct profile profile;
        char path[512], text[65536];
        size_t length;
        FILE *file;

        (void)snprintf(path, sizeof(path), "%s/%s.vendor", VENDOR_FOLDER, names[i]);
        file = fopen(path, "re");
        assert_non_null(file);
        length = fread(text, 1, sizeof(text) - 1, file);
        (void)fclose(file);
        text[length] = '\0';
        if (profile_parse(names[i], path, text, &profile, &error) != 0)
            fail_msg("%s:%u: %s", path, error.line, error.message);
        if (profile.standard != PROFILE_DEFAULT_NONE)
            assert_true(profile.measured.count >= 2);
        all_are_marked(&profile);
        profile_done(&profile);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_invented_vendor_is_one_file),
        cmocka_unit_test(what_is_wrong_is_said_with_its_line),
        cmocka_unit_test(the_shipped_profiles_are_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
