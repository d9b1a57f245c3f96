/* profile.c - a vendor's file: sections, and what makes a whole profile. */
#include "profile.h"

#include "profile_key.h"
#include "text.h"
#include <errno.h>
#include <string.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789-"
#define PROFILE_NAME_MAX 32

bool words_have(const struct words *words, const char *word)
{
    for (uint32_t i = 0; i < words->count; i++) {
        if (text_equal(words->list[i], word))
            return true;
    }
    return false;
}

static bool sets(const struct profile_budget *budget, const char *const *argv, uint32_t argc)
{
    for (uint32_t i = 0; i < argc; i++) {
        auto_free char *flag = strndup(argv[i], strcspn(argv[i], "="));

        if (flag && words_have(&budget->flags, flag))
            return true;
    }
    return false;
}

const struct profile_budget *profile_budget_of(
    const struct profile *profile, const char *const *argv, uint32_t argc, unsigned int exit_status)
{
    for (uint32_t i = 0; i < profile->n_budgets; i++) {
        const struct profile_budget *budget = &profile->budgets[i];

        if (budget->exit_status == exit_status && (!budget->uncertain || sets(budget, argv, argc)))
            return budget;
    }
    return NULL;
}

void profile_done(struct profile *profile)
{
    for (size_t i = 0; i < profile->n_texts; i++)
        free(profile->texts[i]);
    free(profile->texts);
    *profile = (struct profile){0};
}

/* -- what must be in a section -- */

static int check_flag(struct strict_ini *ini, const struct profile_switch *one)
{
    bool keyed = one->form == FLAG_KEY_VALUE || one->form == FLAG_JSON;

    if (keyed && !one->key)
        return strict_ini_error(ini, "the switch `%s` takes a key: give it Key=", one->name);
    if (!keyed && one->key)
        return strict_ini_error(ini, "the switch `%s` takes no Key=", one->name);
    return 0;
}

static int check_switch(struct strict_ini *ini, const struct profile_switch *one)
{
    ini->line = one->line;
    if (one->kind == SWITCH_UNSET)
        return strict_ini_error(
            ini, "the switch `%s` has none of Flag=, Variable=, Settings=", one->name);
    if (one->on.count + one->off.count == 0)
        return strict_ini_error(
            ini, "the switch `%s` can never decide: give it On= or Off=", one->name);
    if (one->kind == SWITCH_SETTINGS && !one->key)
        return strict_ini_error(
            ini, "the switch `%s` needs the Key= to look for in the file", one->name);
    return one->kind == SWITCH_FLAG ? check_flag(ini, one) : 0;
}

static int check_rest(struct strict_ini *ini, const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->n_probes; i++) {
        if (!profile->probes[i].call || !profile->probes[i].comm)
            return strict_ini_error(
                ini, "the probe `%s` needs Call=, Flags= and Comm=", profile->probes[i].name);
    }
    for (uint32_t i = 0; i < profile->n_steers; i++) {
        if (!profile->steers[i].path || !profile->steers[i].does)
            return strict_ini_error(
                ini, "the steer `%s` needs File= and Does=", profile->steers[i].name);
    }
    for (uint32_t i = 0; i < profile->n_budgets; i++) {
        if (profile->budgets[i].exit_status == 0)
            return strict_ini_error(ini, "the budget `%s` needs Exit=", profile->budgets[i].name);
    }
    return 0;
}

static int check_whole(struct profile_parser *parser)
{
    const struct profile *profile = &parser->profile;
    struct strict_ini *ini = &parser->ini;
    unsigned int end = ini->line;

    for (uint32_t i = 0; i < profile->n_switches; i++) {
        if (check_switch(ini, &profile->switches[i]) < 0)
            return -EINVAL;
    }
    ini->line = end;
    if (!profile->name || !text_equal(profile->name, parser->expected_name))
        return strict_ini_error(
            ini, "[vendor] must say Name=%s, as the file is called", parser->expected_name);
    if (profile->standard == PROFILE_DEFAULT_UNSET)
        return strict_ini_error(ini, "[vendor] must say Sandbox=none, off, on or unsettled");
    if (profile->standard != PROFILE_DEFAULT_NONE && profile->programs.count == 0)
        return strict_ini_error(ini, "a vendor with a sandbox needs Program=");
    if (profile->standard == PROFILE_DEFAULT_NONE && profile->n_switches > 0)
        return strict_ini_error(ini, "Sandbox=none, and yet there is a switch");
    return check_rest(ini, profile);
}

/* -- sections -- */

static int full(struct strict_ini *ini, const char *kind)
{
    return strict_ini_error(ini, "more sections [%s NAME] than a profile holds", kind);
}

static int begin_named(struct profile_parser *parser, const char *kind, const char *name)
{
    struct profile *profile = &parser->profile;
    struct strict_ini *ini = &parser->ini;

    if (text_equal(kind, "switch")) {
        if (profile->n_switches == PROFILE_SWITCHES_MAX)
            return full(ini, kind);
        parser->section = SECTION_SWITCH;
        profile->switches[profile->n_switches++] =
            (struct profile_switch){.name = name, .line = ini->line};
    } else if (text_equal(kind, "probe")) {
        if (profile->n_probes == PROFILE_PROBES_MAX)
            return full(ini, kind);
        parser->section = SECTION_PROBE;
        profile->probes[profile->n_probes++] = (struct profile_probe){.name = name};
    } else if (text_equal(kind, "steer")) {
        if (profile->n_steers == PROFILE_STEERS_MAX)
            return full(ini, kind);
        parser->section = SECTION_STEER;
        profile->steers[profile->n_steers++] = (struct profile_steer){.name = name};
    } else if (text_equal(kind, "budget")) {
        if (profile->n_budgets == PROFILE_BUDGETS_MAX)
            return full(ini, kind);
        parser->section = SECTION_BUDGET;
        profile->budgets[profile->n_budgets++] = (struct profile_budget){.name = name};
    } else {
        return strict_ini_error(ini,
            "unknown section [%.24s NAME]: known are [vendor], [switch NAME], [probe NAME], "
            "[steer NAME], [budget NAME]",
            kind);
    }
    return 0;
}

/* `[KIND NAME]`, or `[KIND]` with an empty NAME. */
static int begin_section(struct strict_ini *ini, const char *inner)
{
    struct profile_parser *parser = ini->context;
    auto_free char *kind = strndup(inner, strcspn(inner, " "));
    const char *name = inner + strcspn(inner, " "), *kept;

    if (!kind) {
        ini->result = -ENOMEM;
        return -ENOMEM;
    }
    if (kind[strspn(kind, NAME_CHARACTERS)] ||
        (*name && (!name[1] || name[1 + strspn(name + 1, NAME_CHARACTERS)] ||
                      strlen(name + 1) > PROFILE_NAME_MAX)))
        return strict_ini_error(ini,
            "bad section: write [kind name], each of small letters, digits and `-`, the name at "
            "most %d",
            PROFILE_NAME_MAX);
    name += *name ? 1 : 0;
    parser->seen = 0;
    if (text_equal(kind, "vendor")) {
        if (*name || parser->section != SECTION_NONE)
            return strict_ini_error(ini, "[vendor] comes once, first, and without a name");
        parser->section = SECTION_VENDOR;
        return 0;
    }
    if (parser->section == SECTION_NONE || !*name)
        return strict_ini_error(ini, "begin with [vendor]; the others are [kind NAME]");
    kept = profile_keep(parser, name);
    return kept ? begin_named(parser, kind, kept) : -ENOMEM;
}

int profile_parse(const char *name, const char *file, const char *text, struct profile *ret,
    struct strict_ini_error *ret_error)
{
    struct profile_parser parser = {
        .ini = {.section = begin_section, .key = profile_take_key, .first = "[vendor]"},
        .expected_name = name};
    int r;

    parser.ini.context = &parser;
    parser.profile.file = profile_keep(&parser, file);
    r = parser.profile.file ? strict_ini_read(&parser.ini, text) : -ENOMEM;
    if (r == 0)
        r = check_whole(&parser);
    if (r < 0) {
        profile_done(&parser.profile);
        if (r == -EINVAL)
            *ret_error = parser.ini.error;
        return r;
    }
    *ret = parser.profile;
    return 0;
}
