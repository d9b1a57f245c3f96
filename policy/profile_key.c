#include "profile_key.h"

#include "text.h"
#include <errno.h>
#include <string.h>

const char *profile_keep(struct profile_parser *parser, const char *text)
{
    struct profile *profile = &parser->profile;
    char **texts = realloc(profile->texts, (profile->n_texts + 1) * sizeof(*texts));
    char *copy = texts ? strdup(text) : NULL;

    if (texts)
        profile->texts = texts;
    if (!copy) {
        parser->ini.result = -ENOMEM;
        return NULL;
    }
    profile->texts[profile->n_texts++] = copy;
    return copy;
}

/* -- shapes of values -- */

static int take_words(struct profile_parser *parser, const char *value, struct words *words)
{
    for (;;) {
        auto_free char *word = NULL;
        int r = strict_ini_word(&parser->ini, &value, &word);

        if (r <= 0)
            return r;
        if (words->count == PROFILE_WORDS_MAX)
            return strict_ini_error(
                &parser->ini, "more than %d words for one key", PROFILE_WORDS_MAX);
        words->list[words->count] = profile_keep(parser, word);
        if (!words->list[words->count])
            return -ENOMEM;
        words->count++;
    }
}

/* The whole value, spaces and all. */
static int take_line(struct profile_parser *parser, const char *value, const char **ret)
{
    *ret = profile_keep(parser, value);
    return *ret ? 0 : -ENOMEM;
}

/* Relative, normal: it can lead nowhere but beneath where it is looked for. */
static bool is_beneath(const char *path)
{
    auto_free char *absolute = text_format("/%s", path);

    return absolute && path[0] != '/' && text_path_is_normal(absolute);
}

static int take_beneath(struct profile_parser *parser, const char *value, const char **ret)
{
    if (!is_beneath(value))
        return strict_ini_error(
            &parser->ini, "`%.60s` is no path beneath a directory: no `/` first, no `..`", value);
    return take_line(parser, value, ret);
}

static int take_paths(struct profile_parser *parser, const char *value, struct words *words)
{
    int r = take_words(parser, value, words);

    for (uint32_t i = 0; r == 0 && i < words->count; i++) {
        if (!is_beneath(words->list[i]) && !text_equal(words->list[i], "."))
            return strict_ini_error(&parser->ini,
                "`%.60s` is no path beneath a directory: no `/` first, no `..`", words->list[i]);
    }
    return r;
}

/* -- [vendor] -- */

static int take_name(struct profile_parser *parser, const char *value)
{
    return take_line(parser, value, &parser->profile.name);
}

#define TAKE_WORDS(function, member)                                                               \
    static int function(struct profile_parser *parser, const char *value)                          \
    {                                                                                              \
        return take_words(parser, value, &parser->profile.member);                                 \
    }
#define TAKE_PATHS(function, member)                                                               \
    static int function(struct profile_parser *parser, const char *value)                          \
    {                                                                                              \
        return take_paths(parser, value, &parser->profile.member);                                 \
    }
TAKE_WORDS(take_programs, programs)
TAKE_WORDS(take_version, version)
TAKE_WORDS(take_measured, measured)
TAKE_WORDS(take_moves, moves_settings)
TAKE_WORDS(take_bypass, bypass)
TAKE_WORDS(take_remedy, remedy)
TAKE_WORDS(take_remedy_after, remedy_after)
TAKE_WORDS(take_remedy_variables, remedy_variables)
TAKE_WORDS(take_proxy, proxy)
TAKE_PATHS(take_writable, home_writable)
TAKE_PATHS(take_settings_files, settings)
TAKE_PATHS(take_credentials, credentials)
TAKE_PATHS(take_permissions, permissions)

static int take_sandbox(struct profile_parser *parser, const char *value)
{
    static const struct {
        const char *word;
        enum profile_default means;
    } words[] = {
        {"none", PROFILE_DEFAULT_NONE},
        {"off", PROFILE_DEFAULT_OFF},
        {"on", PROFILE_DEFAULT_ON},
        {"unsettled", PROFILE_DEFAULT_UNSETTLED},
    };

    for (size_t i = 0; i < array_size(words); i++) {
        if (text_equal(words[i].word, value)) {
            parser->profile.standard = words[i].means;
            return 0;
        }
    }
    return strict_ini_error(&parser->ini, "Sandbox= is none, off, on or unsettled");
}

/* Runtimes that heed no HTTP_PROXY of themselves. */
static int take_proxy_runtime(struct profile_parser *parser, const char *value)
{
    struct words words = {.count = 0};
    int r = take_words(parser, value, &words);

    for (uint32_t i = 0; r == 0 && i < words.count; i++) {
        if (text_equal(words.list[i], "node"))
            parser->profile.proxy_node = true;
        else if (text_equal(words.list[i], "jvm"))
            parser->profile.proxy_jvm = true;
        else
            return strict_ini_error(&parser->ini, "Proxy-Runtime= is of node and jvm");
    }
    return r;
}

static int take_package(struct profile_parser *parser, const char *value)
{
    if (text_parse_bool(value, &parser->profile.package) < 0)
        return strict_ini_error(&parser->ini, "Package= is yes or no");
    return 0;
}

/* -- [switch NAME] -- */

static struct profile_switch *the_switch(struct profile_parser *parser)
{
    return &parser->profile.switches[parser->profile.n_switches - 1];
}

static int set_kind(struct profile_parser *parser, enum switch_kind kind)
{
    if (the_switch(parser)->kind != SWITCH_UNSET)
        return strict_ini_error(
            &parser->ini, "a switch is one of Flag=, Variable=, Settings=: make it two");
    the_switch(parser)->kind = kind;
    return 0;
}

static int take_flag(struct profile_parser *parser, const char *value)
{
    struct profile_switch *one = the_switch(parser);
    int r = set_kind(parser, SWITCH_FLAG);

    if (r == 0)
        r = take_words(parser, value, &one->flags);
    for (uint32_t i = 0; r == 0 && i < one->flags.count; i++) {
        if (one->flags.list[i][0] != '-' || !one->flags.list[i][1])
            return strict_ini_error(&parser->ini, "`%.32s` is no flag", one->flags.list[i]);
    }
    return r;
}

static int take_form(struct profile_parser *parser, const char *value)
{
    static const char *const forms[] = {
        [FLAG_ALONE] = "none",
        [FLAG_VALUE] = "value",
        [FLAG_KEY_VALUE] = "key-value",
        [FLAG_JSON] = "json",
    };

    for (size_t i = 0; i < array_size(forms); i++) {
        if (text_equal(forms[i], value)) {
            the_switch(parser)->form = (enum flag_form)i;
            return 0;
        }
    }
    return strict_ini_error(&parser->ini, "Takes= is none, value, key-value or json");
}

static int take_variable(struct profile_parser *parser, const char *value)
{
    int r = set_kind(parser, SWITCH_VARIABLE);

    return r < 0 ? r : take_line(parser, value, &the_switch(parser)->variable);
}

static int take_settings(struct profile_parser *parser, const char *value)
{
    struct profile_switch *one = the_switch(parser);
    int r = set_kind(parser, SWITCH_SETTINGS);

    if (r < 0)
        return r;
    if (text_starts_with(value, "/") && text_path_is_normal(value)) {
        one->place = PLACE_SYSTEM;
        return take_line(parser, value, &one->path);
    }
    if (text_starts_with(value, "home:")) {
        one->place = PLACE_HOME;
        return take_beneath(parser, value + strlen("home:"), &one->path);
    }
    if (text_starts_with(value, "workspace:")) {
        one->place = PLACE_WORKSPACE;
        return take_beneath(parser, value + strlen("workspace:"), &one->path);
    }
    return strict_ini_error(
        &parser->ini, "Settings= is home:PATH, workspace:PATH or an absolute path");
}

static int take_key(struct profile_parser *parser, const char *value)
{
    return take_line(parser, value, &the_switch(parser)->key);
}

static int take_on(struct profile_parser *parser, const char *value)
{
    return take_words(parser, value, &the_switch(parser)->on);
}

static int take_off(struct profile_parser *parser, const char *value)
{
    return take_words(parser, value, &the_switch(parser)->off);
}

static int take_ignore(struct profile_parser *parser, const char *value)
{
    return take_words(parser, value, &the_switch(parser)->ignore);
}

static int take_of(struct profile_parser *parser, const char *value)
{
    return take_line(parser, value, &the_switch(parser)->of);
}

static int take_switch_remedy(struct profile_parser *parser, const char *value)
{
    return take_line(parser, value, &the_switch(parser)->remedy);
}

/* -- [probe NAME], [steer NAME], [budget NAME] -- */

static int take_number(struct profile_parser *parser, const char *value, int base, uint64_t *ret)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t number = 0;

    if (!*value || strlen(value) > 16)
        return strict_ini_error(&parser->ini, "`%.32s` is no number", value);
    for (const char *at = value; *at; at++) {
        const char *digit = strchr(digits, *at);

        if (!digit || digit - digits >= base)
            return strict_ini_error(&parser->ini, "`%.32s` is no number", value);
        number = number * (unsigned int)base + (uint64_t)(digit - digits);
    }
    *ret = number;
    return 0;
}

static struct profile_probe *the_probe(struct profile_parser *parser)
{
    return &parser->profile.probes[parser->profile.n_probes - 1];
}

static int take_call(struct profile_parser *parser, const char *value)
{
    return take_line(parser, value, &the_probe(parser)->call);
}

static int take_flags(struct profile_parser *parser, const char *value)
{
    if (!text_starts_with(value, "0x"))
        return strict_ini_error(&parser->ini, "Flags= is written in hexadecimal: 0x...");
    return take_number(parser, value + 2, 16, &the_probe(parser)->flags);
}

static int take_comm(struct profile_parser *parser, const char *value)
{
    return take_line(parser, value, &the_probe(parser)->comm);
}

static struct profile_steer *the_steer(struct profile_parser *parser)
{
    return &parser->profile.steers[parser->profile.n_steers - 1];
}

static int take_steer_file(struct profile_parser *parser, const char *value)
{
    return take_beneath(parser, value, &the_steer(parser)->path);
}

#define TAKE_STEER(function, member)                                                               \
    static int function(struct profile_parser *parser, const char *value)                          \
    {                                                                                              \
        return take_line(parser, value, &the_steer(parser)->member);                               \
    }
TAKE_STEER(take_steer_key, key)
TAKE_STEER(take_shut_flag, shut_flag)
TAKE_STEER(take_shut_value, shut_value)
TAKE_STEER(take_shut_variable, shut_variable)
TAKE_STEER(take_does, does)
TAKE_STEER(take_steer_remedy, remedy)

static struct profile_budget *the_budget(struct profile_parser *parser)
{
    return &parser->profile.budgets[parser->profile.n_budgets - 1];
}

static int take_budget_flag(struct profile_parser *parser, const char *value)
{
    return take_words(parser, value, &the_budget(parser)->flags);
}

static int take_uncertain(struct profile_parser *parser, const char *value)
{
    if (text_parse_bool(value, &the_budget(parser)->uncertain) < 0)
        return strict_ini_error(&parser->ini, "Uncertain= is yes or no");
    return 0;
}

static int take_exit(struct profile_parser *parser, const char *value)
{
    int r = take_number(parser, value, 10, &the_budget(parser)->exit_status);

    if (r == 0 && (the_budget(parser)->exit_status < 1 || the_budget(parser)->exit_status > 255))
        return strict_ini_error(&parser->ini, "Exit= is 1 to 255");
    return r;
}

/* -- Measured=, in each of them -- */

static int take_section_measured(struct profile_parser *parser, const char *value)
{
    switch (parser->section) {
    case SECTION_SWITCH:
        return take_line(parser, value, &the_switch(parser)->measured);
    case SECTION_PROBE:
        return take_line(parser, value, &the_probe(parser)->measured);
    case SECTION_STEER:
        return take_line(parser, value, &the_steer(parser)->measured);
    default:
        return take_line(parser, value, &the_budget(parser)->measured);
    }
}

/* -- the table -- */

static const struct key {
    enum profile_section section;
    const char *name;
    bool again; /* further lines extend it */
    int (*take)(struct profile_parser *parser, const char *value);
} keys[] = {
    {SECTION_VENDOR, "Name", false, take_name},
    {SECTION_VENDOR, "Program", false, take_programs},
    {SECTION_VENDOR, "Version", false, take_version},
    {SECTION_VENDOR, "Measured", true, take_measured},
    {SECTION_VENDOR, "Sandbox", false, take_sandbox},
    {SECTION_VENDOR, "Bypass", false, take_bypass},
    {SECTION_VENDOR, "Moves-Settings", true, take_moves},
    {SECTION_VENDOR, "Remedy", false, take_remedy},
    {SECTION_VENDOR, "Remedy-After", false, take_remedy_after},
    {SECTION_VENDOR, "Remedy-Variable", false, take_remedy_variables},
    {SECTION_VENDOR, "Home-Writable", true, take_writable},
    {SECTION_VENDOR, "Settings-File", true, take_settings_files},
    {SECTION_VENDOR, "Credential-File", true, take_credentials},
    {SECTION_VENDOR, "Permission-File", true, take_permissions},
    {SECTION_VENDOR, "Proxy", false, take_proxy},
    {SECTION_VENDOR, "Proxy-Runtime", false, take_proxy_runtime},
    {SECTION_VENDOR, "Package", false, take_package},
    {SECTION_SWITCH, "Flag", false, take_flag},
    {SECTION_SWITCH, "Takes", false, take_form},
    {SECTION_SWITCH, "Variable", false, take_variable},
    {SECTION_SWITCH, "Settings", false, take_settings},
    {SECTION_SWITCH, "Key", false, take_key},
    {SECTION_SWITCH, "On", false, take_on},
    {SECTION_SWITCH, "Off", false, take_off},
    {SECTION_SWITCH, "Ignore", false, take_ignore},
    {SECTION_SWITCH, "Of", false, take_of},
    {SECTION_SWITCH, "Remedy", false, take_switch_remedy},
    {SECTION_SWITCH, "Measured", false, take_section_measured},
    {SECTION_PROBE, "Call", false, take_call},
    {SECTION_PROBE, "Flags", false, take_flags},
    {SECTION_PROBE, "Comm", false, take_comm},
    {SECTION_PROBE, "Measured", false, take_section_measured},
    {SECTION_STEER, "File", false, take_steer_file},
    {SECTION_STEER, "Key", false, take_steer_key},
    {SECTION_STEER, "Shut-Flag", false, take_shut_flag},
    {SECTION_STEER, "Shut-Value", false, take_shut_value},
    {SECTION_STEER, "Shut-Variable", false, take_shut_variable},
    {SECTION_STEER, "Does", false, take_does},
    {SECTION_STEER, "Remedy", false, take_steer_remedy},
    {SECTION_STEER, "Measured", false, take_section_measured},
    {SECTION_BUDGET, "Flag", false, take_budget_flag},
    {SECTION_BUDGET, "Exit", false, take_exit},
    {SECTION_BUDGET, "Uncertain", false, take_uncertain},
    {SECTION_BUDGET, "Measured", false, take_section_measured},
};
_Static_assert(array_size(keys) <= 64, "one bit for each key");

int profile_take_key(struct strict_ini *ini, const char *key, const char *value)
{
    struct profile_parser *parser = ini->context;

    if (parser->section == SECTION_NONE)
        return strict_ini_error(ini, "a line before the first section: begin with [vendor]");
    if (!*value)
        return strict_ini_error(ini, "%.24s= has no value: give one, or leave the line out", key);
    for (size_t i = 0; i < array_size(keys); i++) {
        if (keys[i].section != parser->section || !text_equal(keys[i].name, key))
            continue;
        if (!keys[i].again && parser->seen & UINT64_C(1) << i)
            return strict_ini_error(ini, "%s= is given twice in this section: leave one", key);
        parser->seen |= UINT64_C(1) << i;
        return keys[i].take(parser, value);
    }
    return strict_ini_error(ini, "unknown key `%.24s` in this section: see saphan.vendor(5)", key);
}
