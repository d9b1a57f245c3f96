/* rule.c - policy files: lines and sections.
 *
 * inih splits the lines; what it would forgive (text after a value taken for a comment, `:` for
 * `=`, a continued line, a line that is too long) is refused here before it sees them, because a
 * policy that says something else than its writer meant is worse than none.
 */
#include "rule.h"

#include "rule_key.h"
#include "text.h"
#include <errno.h>
#include <ini.h>
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
    for (size_t i = 0; i < rule->n_write_ceilings; i++)
        free(rule->write_ceilings[i]);
    for (size_t i = 0; i < rule->n_carve_outs; i++)
        free(rule->carve_outs[i]);
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

    if (!rule || parser->result < 0)
        return parser->result;
    /* These are faults of the whole section: they are reported where it begins. */
    parser->line = rule->line;
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
            parser->result = -ENOMEM;
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
    *rule = (struct rule){.line = parser->line};
    rule->name = strdup(name);
    rule->file = strdup(parser->file);
    if (!rule->name || !rule->file)
        goto no_memory;
    parser->rule = rule;
    parser->seen = 0;
    parser->ceilings = parser->standards = 0;
    return 0;

no_memory:
    parser->result = -ENOMEM;
    return -ENOMEM;
}

static int take_header(struct rule_parser *parser, const char *line, size_t length)
{
    static const char begin[] = "[allow ";
    auto_free char *name = NULL;
    unsigned int here = parser->line;
    size_t prefix = sizeof(begin) - 1;
    int r;

    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        length--;
    if (length <= prefix + 1 || strncmp(line, begin, prefix) != 0 || line[length - 1] != ']')
        return rule_error(parser, "unknown section: write [allow NAME]");
    name = strndup(line + prefix, length - prefix - 1);
    if (!name) {
        parser->result = -ENOMEM;
        return -ENOMEM;
    }
    if (strlen(name) > RULE_NAME_MAX || strspn(name, NAME_CHARACTERS) != strlen(name))
        return rule_error(parser,
            "bad name in [allow NAME]: write 1 to %d letters, digits, `_`, `.`, `-`",
            RULE_NAME_MAX);
    r = end_section(parser);
    if (r < 0)
        return r;
    parser->line = here;
    return begin_section(parser, name);
}

/* -- lines -- */

static int check_key_line(struct rule_parser *parser, const char *line)
{
    size_t separator = strcspn(line, "=:");

    if (!parser->rule)
        return rule_error(parser, "a line before the first section: begin with [allow NAME]");
    if (line[0] == ' ' || line[0] == '\t')
        return rule_error(parser, "a line that begins with white space: repeat the key instead");
    if (line[separator] != '=')
        return rule_error(parser, "not a `Key=value` line");
    if (strstr(line, " ;") || strstr(line, "\t;") || strstr(line, " #") || strstr(line, "\t#"))
        return rule_error(parser, "a comment behind a value: put it on a line of its own");
    return 0;
}

static int check_line(struct rule_parser *parser, const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)line[i];

        if (c == '\r' && i + 1 == length)
            return rule_error(parser, "a carriage return: save the file with Unix line ends");
        if (c == 0x7f || (c < 0x20 && c != '\t'))
            return rule_error(parser, "a control character (byte %u): remove it", c);
    }
    if (strspn(line, " \t") == length || line[0] == '#' || line[0] == ';')
        return 0;
    return line[0] == '[' ? take_header(parser, line, length) : check_key_line(parser, line);
}

/* inih's reader: hands over one line that has been looked at, or ends the reading. */
static char *read_line(char *buffer, int size, void *context)
{
    struct rule_parser *parser = context;
    size_t length = strcspn(parser->at, "\n");

    if (parser->result < 0 || !*parser->at)
        return NULL;
    parser->line++;
    if (length >= (size_t)size) {
        (void)rule_error(
            parser, "a line of more than %d bytes: repeat the key on a line of its own", size - 1);
        return NULL;
    }
    memcpy(buffer, parser->at, length);
    buffer[length] = '\0';
    parser->at += length;
    if (*parser->at)
        parser->at++;
    return check_line(parser, buffer, length) < 0 ? NULL : buffer;
}

static int on_key(void *context, const char *section, const char *key, const char *value)
{
    struct rule_parser *parser = context;

    return parser->result == 0 && rule_take_key(parser, key, value) == 0;
}

int policy_parse(struct policy *policy, const char *file, const char *text,
    const struct name_resolver *resolver, struct policy_error *ret_error)
{
    struct policy_error error = {0};
    struct rule_parser parser = {
        .policy = policy, .file = file, .at = text, .resolver = resolver, .error = &error};
    size_t before = policy->n_rules;
    int r;

    r = ini_parse_stream(read_line, &parser, on_key, &parser);
    if (r != 0 && parser.result == 0) {
        parser.line = r > 0 ? (unsigned int)r : 0;
        (void)rule_error(&parser, "not a line of an INI file: write Key=value");
    }
    (void)end_section(&parser);
    if (parser.result == 0 && policy->n_rules == before) {
        parser.line = 0;
        (void)rule_error(&parser, "there is no rule in it: write at least one [allow NAME]");
    }
    if (parser.result < 0) {
        truncate_rules(policy, before);
        if (parser.result == -EINVAL)
            *ret_error = error;
    }
    return parser.result;
}
