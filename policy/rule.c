/* rule.c - policy files: their sections. */
#include "rule.h"

#include "rule_key.h"
#include "text.h"
#include <errno.h>
#include <string.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
#define RULE_NAME_MAX 32

static void rule_done(struct rule *rule)
{
    free(rule->name);
    free(rule->file);
    for (size_t i = 0; i < rule->n_vendors; i++)
        free(rule->vendors[i]);
    for (size_t i = 0; i < rule->n_read_ceilings; i++)
        free(rule->read_ceilings[i]);
    for (size_t i = 0; i < rule->n_hosts; i++)
        free(rule->hosts[i]);
    for (size_t i = 0; i < rule->n_unix_ceilings; i++)
        free(rule->unix_ceilings[i]);
    for (size_t i = 0; i < rule->n_write_ceilings; i++)
        free(rule->write_ceilings[i]);
    for (size_t i = 0; i < rule->n_carve_outs; i++)
        free(rule->carve_outs[i]);
    for (size_t i = 0; i < rule->n_images; i++)
        free(rule->images[i]);
}

static void truncate_rules(struct policy *policy, size_t count)
{
    while (policy->n_rules > count)
        rule_done(&policy->rules[--policy->n_rules]);
    if (count == 0) {
        free(policy->rules);
        policy->rules = NULL;
    }
}

void policy_done(struct policy *policy)
{
    truncate_rules(policy, 0);
}

/* -- sections -- */

/* What a rule does not say is the narrowest there is. */
static void fill_defaults(struct rule *rule)
{
    if (!rule->boundaries)
        rule->boundaries = 1U << BOUNDARY_DOMAIN;
    if (!rule->views)
        rule->views = 1U << VIEW_MINIMAL;
    if (!rule->nets)
        rule->nets = 1U << NET_NONE;
}

static int check_limits(struct rule_parser *parser)
{
    for (unsigned int i = 0; i < LIMIT_COUNT; i++) {
        uint64_t ceiling = limits_get(&parser->rule->ceiling, (enum limit_id)i);

        if (ceiling && limits_get(&parser->rule->standard, (enum limit_id)i) > ceiling)
            return rule_error(parser,
                "Limit-Default= of `%s` is above its Limit-Ceiling=: lower it, or raise the "
                "ceiling",
                limit_name((enum limit_id)i));
    }
    return 0;
}

static int end_section(struct rule_parser *parser)
{
    struct rule *rule = parser->rule;
    int r;

    if (!rule || parser->ini.result < 0)
        return parser->ini.result;
    /* These are faults of the whole section: they are reported where it begins. */
    parser->ini.line = rule->line;
    if (!rule->any_user && rule->n_users == 0 && rule->n_groups == 0)
        return rule_error(
            parser, "the rule `%s` names nobody: give it User= or Group=", rule->name);
    r = check_limits(parser);
    if (r < 0)
        return r;
    fill_defaults(rule);
    if (rule->n_vendors == 0) {
        rule->vendors[0] = strdup("proc");
        if (!rule->vendors[0]) {
            parser->ini.result = -ENOMEM;
            return -ENOMEM;
        }
        rule->n_vendors = 1;
    }
    parser->rule = NULL;
    return 0;
}

static int begin_section(struct rule_parser *parser, const char *name)
{
    struct policy *policy = parser->policy;
    struct rule *rules, *rule;

    for (size_t i = 0; i < policy->n_rules; i++) {
        if (text_equal(policy->rules[i].name, name))
            return rule_error(parser,
                "there is a rule `%s` at %.80s:%u already: name this one otherwise", name,
                policy->rules[i].file, policy->rules[i].line);
    }
    rules = realloc(policy->rules, (policy->n_rules + 1) * sizeof(*rules));
    if (!rules)
        goto no_memory;
    policy->rules = rules;
    rule = &rules[policy->n_rules++];
    *rule = (struct rule){.line = parser->ini.line};
    rule->name = strdup(name);
    rule->file = strdup(parser->file);
    if (!rule->name || !rule->file)
        goto no_memory;
    parser->rule = rule;
    parser->seen = 0;
    parser->ceilings = parser->standards = 0;
    return 0;

no_memory:
    parser->ini.result = -ENOMEM;
    return -ENOMEM;
}

static int take_section(struct strict_ini *ini, const char *inner)
{
    static const char kind[] = "allow ";
    struct rule_parser *parser = ini->context;
    const char *name = inner + sizeof(kind) - 1;
    unsigned int here = ini->line;
    int r;

    if (!text_starts_with(inner, kind) || !*name)
        return rule_error(parser, "unknown section: write [allow NAME]");
    if (strlen(name) > RULE_NAME_MAX || strspn(name, NAME_CHARACTERS) != strlen(name))
        return rule_error(parser,
            "bad name in [allow NAME]: write 1 to %d letters, digits, `_`, `.`, `-`",
            RULE_NAME_MAX);
    r = end_section(parser);
    if (r < 0)
        return r;
    ini->line = here;
    return begin_section(parser, name);
}

static int take_key(struct strict_ini *ini, const char *key, const char *value)
{
    return rule_take_key(ini->context, key, value);
}

int policy_parse(struct policy *policy, const char *file, const char *text,
    const struct name_resolver *resolver, struct strict_ini_error *ret_error)
{
    struct rule_parser parser = {
        .ini = {.section = take_section, .key = take_key, .first = "[allow NAME]"},
        .policy = policy,
        .file = file,
        .resolver = resolver};
    size_t before = policy->n_rules;

    parser.ini.context = &parser;
    (void)strict_ini_read(&parser.ini, text);
    (void)end_section(&parser);
    if (parser.ini.result == 0 && policy->n_rules == before) {
        parser.ini.line = 0;
        (void)rule_error(&parser, "there is no rule in it: write at least one [allow NAME]");
    }
    if (parser.ini.result < 0) {
        truncate_rules(policy, before);
        if (parser.ini.result == -EINVAL)
            *ret_error = parser.ini.error;
    }
    return parser.ini.result;
}
