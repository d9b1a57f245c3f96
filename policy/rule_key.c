#include "rule_key.h"

#include "capability.h"
#include "hosts.h"
#include "text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What stands in a message of what was found: short.  That it is printable, strict_ini_error() sees
 * to. */
#define SHOWN_MAX 48

struct shown {
    char text[SHOWN_MAX];
};

static struct shown shown(const char *text)
{
    struct shown out;

    (void)snprintf(out.text, sizeof(out.text), "%s", text);
    return out;
}

static int no_memory(struct rule_parser *parser)
{
    parser->ini.result = -ENOMEM;
    return -ENOMEM;
}

static int append(struct rule_parser *parser, char **list, size_t *count, const char *word)
{
    if (*count == RULE_LIST_MAX)
        return rule_error(parser, "more than %d entries for one key", RULE_LIST_MAX);
    list[*count] = strdup(word);
    if (!list[*count])
        return no_memory(parser);
    (*count)++;
    return 0;
}

/* -- users and groups -- */

/* A name of the user database, as useradd(8) lets it be.  It never begins with a digit or a sign,
 * so it can never be mistaken for a number. */
static bool is_account_name(const char *word)
{
    size_t length = strlen(word);

    if (length == 0 || length > 32 || (word[0] >= '0' && word[0] <= '9') || word[0] == '-')
        return false;
    return strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
           length;
}

static int account_id(struct rule_parser *parser, const char *word, const char *what,
    int (*lookup)(void *context, const char *name, uint32_t *ret_id), uint32_t *ret_id)
{
    uint64_t number;

    /* The largest is (uid_t)-1, which the kernel reads as "no change". */
    if (text_parse_uint(word, UINT32_MAX - 1, &number) == 0) {
        *ret_id = (uint32_t)number;
        return 0;
    }
    if (!is_account_name(word))
        return rule_error(parser,
            "`%s` is no %s: write a name, or a plain decimal number like 1000", shown(word).text,
            what);
    if (!lookup || lookup(parser->resolver->context, word, ret_id) < 0)
        return rule_error(
            parser, "there is no %s `%s`: create it, or correct the name", what, word);
    return 0;
}

static int add_id(struct rule_parser *parser, uint32_t *list, size_t *count, uint32_t id)
{
    if (*count == RULE_LIST_MAX)
        return rule_error(parser, "more than %d entries for one key", RULE_LIST_MAX);
    list[(*count)++] = id;
    return 0;
}

static int take_user(struct rule_parser *parser, const char *word)
{
    uint32_t uid;
    int r;

    if (text_equal(word, "*")) {
        parser->rule->any_user = true;
        return 0;
    }
    r = account_id(parser, word, "user", parser->resolver ? parser->resolver->user : NULL, &uid);
    return r < 0 ? r : add_id(parser, parser->rule->users, &parser->rule->n_users, uid);
}

static int take_group(struct rule_parser *parser, const char *word)
{
    uint32_t gid;
    int r;

    r = account_id(parser, word, "group", parser->resolver ? parser->resolver->group : NULL, &gid);
    return r < 0 ? r : add_id(parser, parser->rule->groups, &parser->rule->n_groups, gid);
}

/* -- what may be asked -- */

static int take_boundary(struct rule_parser *parser, const char *word)
{
    enum boundary boundary;

    if (boundary_parse(word, &boundary) < 0)
        return rule_error(
            parser, "unknown boundary `%s`: known are domain, container", shown(word).text);
    if (boundary == BOUNDARY_NONE)
        return rule_error(parser, "saphan has no unconfined mode: no policy can allow it");
    parser->rule->boundaries |= 1U << boundary;
    return 0;
}

static int take_view(struct rule_parser *parser, const char *word)
{
    enum view view;

    if (view_parse(word, &view) < 0)
        return rule_error(parser, "unknown view `%s`: known are minimal, host", shown(word).text);
    parser->rule->views |= 1U << view;
    return 0;
}

static int take_net(struct rule_parser *parser, const char *word)
{
    enum net net;

    if (net_parse(word, &net) < 0)
        return rule_error(
            parser, "unknown network mode `%s`: known are none, host, door", shown(word).text);
    parser->rule->nets |= 1U << net;
    return 0;
}

static int take_vendor(struct rule_parser *parser, const char *word)
{
    if (!text_equal(word, "*") &&
        strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(word))
        return rule_error(parser,
            "`%s` is no vendor: write small letters, digits and `-`, or `*` for any",
            shown(word).text);
    return append(parser, parser->rule->vendors, &parser->rule->n_vendors, word);
}

static int check_ceiling(struct rule_parser *parser, const char *word)
{
    const char *path = word;

    if (word[0] == '~')
        path = word[1] ? word + 1 : "/";
    if (path[0] != '/' || !text_path_is_normal(path) || text_equal(word, "~/"))
        return rule_error(parser,
            "`%s` is no ceiling: write an absolute path without `.`, `..`, `//` or a last `/`, or "
            "`~` or `~/...`",
            shown(word).text);
    return 0;
}

static int take_read(struct rule_parser *parser, const char *word)
{
    int r = check_ceiling(parser, word);

    return r < 0
               ? r
               : append(parser, parser->rule->read_ceilings, &parser->rule->n_read_ceilings, word);
}

static int take_write(struct rule_parser *parser, const char *word)
{
    int r = check_ceiling(parser, word);

    return r < 0 ? r
                 : append(
                       parser, parser->rule->write_ceilings, &parser->rule->n_write_ceilings, word);
}

static int take_host(struct rule_parser *parser, const char *word)
{
    struct host_pattern pattern;

    if (host_pattern_parse(word, true, &pattern) < 0)
        return rule_error(parser,
            "`%s` is no host: write example.org, *.example.org:8443, 192.0.2.1:80, [2001:db8::1], "
            "*:443 or *:*",
            shown(word).text);
    return append(parser, parser->rule->hosts, &parser->rule->n_hosts, word);
}

static int take_forward_unix(struct rule_parser *parser, const char *word)
{
    if (word[0] == '~')
        return rule_error(parser, "Forward-Unix= wants absolute paths");
    return check_ceiling(parser, word) < 0
               ? -EINVAL
               : append(parser, parser->rule->unix_ceilings, &parser->rule->n_unix_ceilings, word);
}

static int take_carve_out(struct rule_parser *parser, const char *word)
{
    auto_free char *absolute = text_format("/%s", word);

    if (!absolute)
        return no_memory(parser);
    if (word[0] == '/' || word[0] == '~' || !text_path_is_normal(absolute))
        return rule_error(parser,
            "`%s` is no carve-out: write a path relative to the workspace, without `.`, `..`, `//` "
            "or a last `/`",
            shown(word).text);
    return append(parser, parser->rule->carve_outs, &parser->rule->n_carve_outs, word);
}

static int take_rung(struct rule_parser *parser, const char *word)
{
    enum rung_id rung;

    if (rung_parse(word, &rung) < 0)
        return rule_error(
            parser, "unknown rung `%s`: `saphan status` lists those known", shown(word).text);
    parser->rule->demanded_rungs |= UINT64_C(1) << rung;
    return 0;
}

/* -- limits -- */

static const char limit_forms[] =
    "write tasks=512 memory=4G cpu=150 wall=2h output=64M files=1024, each above 0";

static int take_limit(
    struct rule_parser *parser, const char *word, struct limits *limits, uint32_t *met)
{
    const char *equals = strchr(word, '=');
    auto_free char *name = equals ? strndup(word, (size_t)(equals - word)) : strdup(word);
    int r;

    if (!name)
        return no_memory(parser);
    r = equals ? limits_set(limits, name, equals + 1) : -EINVAL;
    if (r == -ENOENT)
        return rule_error(parser, "unknown limit `%s`: known are " LIMIT_NAMES, shown(name).text);
    if (r < 0)
        return rule_error(parser, "bad limit `%s`: %s", shown(word).text, limit_forms);
    for (unsigned int i = 0; i < LIMIT_COUNT; i++) {
        if (!text_equal(limit_name((enum limit_id)i), name))
            continue;
        if (*met & 1U << i)
            return rule_error(parser, "limit `%s` is given twice: leave one", name);
        *met |= 1U << i;
    }
    return 0;
}

static int take_limit_ceiling(struct rule_parser *parser, const char *word)
{
    return take_limit(parser, word, &parser->rule->ceiling, &parser->ceilings);
}

static int take_limit_default(struct rule_parser *parser, const char *word)
{
    return take_limit(parser, word, &parser->rule->standard, &parser->standards);
}

static int take_count(struct rule_parser *parser, const char *word, uint64_t *ret_count)
{
    uint64_t count;

    if (text_parse_uint(word, 1000000, &count) < 0 || count == 0)
        return rule_error(
            parser, "`%s` is no number of legs: write 1 to 1000000", shown(word).text);
    *ret_count = count;
    return 0;
}

static int take_at_once(struct rule_parser *parser, const char *word)
{
    return take_count(parser, word, &parser->rule->legs_at_once);
}

static int take_per_minute(struct rule_parser *parser, const char *word)
{
    return take_count(parser, word, &parser->rule->legs_per_minute);
}

static int take_operator(struct rule_parser *parser, const char *word)
{
    if (text_parse_bool(word, &parser->rule->see_all) < 0)
        return rule_error(parser, "`%s` is neither yes nor no", shown(word).text);
    return 0;
}

/* -- images -- */

static int take_image(struct rule_parser *parser, const char *word)
{
    const char *star = strchr(word, '*');

    if (star && star[1])
        return rule_error(parser,
            "`%s` is no image: write `own`, a name, or the beginning of names and one `*`",
            shown(word).text);
    return append(parser, parser->rule->images, &parser->rule->n_images, word);
}

static int take_image_add(struct rule_parser *parser, const char *word)
{
    if (text_parse_bool(word, &parser->rule->image_add) < 0)
        return rule_error(parser, "`%s` is neither yes nor no", shown(word).text);
    return 0;
}

static int take_image_bytes(struct rule_parser *parser, const char *word)
{
    if (text_parse_size(word, &parser->rule->image_bytes) < 0 || parser->rule->image_bytes == 0)
        return rule_error(parser, "`%s` is no size: write one like 8G", shown(word).text);
    return 0;
}

static int take_image_entries(struct rule_parser *parser, const char *word)
{
    if (text_parse_uint(word, 100000000, &parser->rule->image_entries) < 0 ||
        parser->rule->image_entries == 0)
        return rule_error(
            parser, "`%s` is no number of files: write one like 500000", shown(word).text);
    return 0;
}

static int take_capability(struct rule_parser *parser, const char *word)
{
    uint64_t bit;

    if (capability_parse(word, &bit) < 0)
        return rule_error(parser, "`%s` is no capability that a leg can have: known are %s",
            shown(word).text, CAPABILITY_NAMES);
    parser->rule->capabilities |= bit;
    return 0;
}

/* -- vendors -- */

static int take_nested(struct rule_parser *parser, const char *word)
{
    static const char *const words[] = {[NESTED_RED] = "refuse",
        [NESTED_KILL] = "kill",
        [NESTED_NOTE] = "note",
        [NESTED_ALLOW] = "allow"};

    for (size_t i = 0; i < array_size(words); i++) {
        if (text_equal(words[i], word)) {
            parser->rule->nested = (enum nested_answer)i;
            return 0;
        }
    }
    return rule_error(parser, "`%s` is none of refuse, kill, note, allow", shown(word).text);
}

static int take_either(struct rule_parser *parser, const char *word, const char *strict, bool *ret)
{
    if (!text_equal(word, strict) && !text_equal(word, "note"))
        return rule_error(parser, "`%s` is neither note nor %s", shown(word).text, strict);
    *ret = text_equal(word, strict);
    return 0;
}

static int take_steering(struct rule_parser *parser, const char *word)
{
    return take_either(parser, word, "refuse", &parser->rule->steering_refused);
}

static int take_rewritten(struct rule_parser *parser, const char *word)
{
    return take_either(parser, word, "red", &parser->rule->rewritten_red);
}

static int take_require_cell(struct rule_parser *parser, const char *word)
{
    if (!text_equal(word, "NESTS"))
        return rule_error(parser, "`%s` is no verdict to demand: write NESTS", shown(word).text);
    parser->rule->require_nests = true;
    return 0;
}

static int take_measure(struct rule_parser *parser, const char *word)
{
    if (text_parse_bool(word, &parser->rule->may_measure) < 0)
        return rule_error(parser, "`%s` is neither yes nor no", shown(word).text);
    return 0;
}

static int take_test_only_nested(struct rule_parser *parser, const char *word)
{
    if (text_parse_bool(word, &parser->rule->test_only_nested) < 0)
        return rule_error(parser, "`%s` is neither yes nor no", shown(word).text);
    return 0;
}

/* -- the table -- */

static const struct key {
    const char *name;
    bool once; /* one word, once in a section; else a list that further lines extend */
    int (*take)(struct rule_parser *parser, const char *word);
} keys[] = {
    {"User", false, take_user},
    {"Group", false, take_group},
    {"Boundary", false, take_boundary},
    {"View", false, take_view},
    {"Net", false, take_net},
    {"Vendor", false, take_vendor},
    {"Read", false, take_read},
    {"Write", false, take_write},
    {"Host", false, take_host},
    {"Forward-Unix", false, take_forward_unix},
    {"Carve-Out", false, take_carve_out},
    {"Require-Rung", false, take_rung},
    {"Limit-Ceiling", false, take_limit_ceiling},
    {"Limit-Default", false, take_limit_default},
    {"Legs-At-Once", true, take_at_once},
    {"Legs-Per-Minute", true, take_per_minute},
    {"Image", false, take_image},
    {"Image-Add", true, take_image_add},
    {"Image-Bytes", true, take_image_bytes},
    {"Image-Entries", true, take_image_entries},
    {"Capabilities", false, take_capability},
    {"Operator", true, take_operator},
    {"Nested", true, take_nested},
    {"Steering", true, take_steering},
    {"Profile-Rewritten", true, take_rewritten},
    {"Require-Cell", true, take_require_cell},
    {"Measure", true, take_measure},
    {"Test-Only-Start-With-Nested-Sandbox", true, take_test_only_nested},
};

static int take_words(struct rule_parser *parser, const struct key *key, const char *value)
{
    size_t count = 0;

    for (;;) {
        auto_free char *word = NULL;
        int r = strict_ini_word(&parser->ini, &value, &word);

        if (r < 0)
            return r;
        if (r == 0)
            break;
        if (!*word)
            return rule_error(parser, "empty quotes: leave them out");
        if (++count > 1 && key->once)
            return rule_error(parser, "%s= takes one word", key->name);
        r = key->take(parser, word);
        if (r < 0)
            return r;
    }
    if (count == 0)
        return rule_error(parser, "%s= has no value: give one, or leave the line out", key->name);
    return 0;
}

/* All names, but for what no policy of an installed saphand may hold. */
static void name_keys(char *out, size_t size)
{
    size_t at = 0;

    out[0] = '\0';
    for (size_t i = 0; i < array_size(keys) && at < size; i++) {
        if (strncmp(keys[i].name, "Test-Only-", 10) != 0)
            at += (size_t)snprintf(out + at, size - at, "%s%s", at ? " " : "", keys[i].name);
    }
}

int rule_take_key(struct rule_parser *parser, const char *key, const char *value)
{
    char known[sizeof(parser->ini.error.message)];

    for (size_t i = 0; i < array_size(keys); i++) {
        if (!text_equal(keys[i].name, key))
            continue;
        if (keys[i].once && parser->seen & UINT64_C(1) << i)
            return rule_error(parser, "%s= is given twice in this rule: leave one", key);
        parser->seen |= UINT64_C(1) << i;
        return take_words(parser, &keys[i], value);
    }
    name_keys(known, sizeof(known));
    return rule_error(parser, "unknown key `%.24s`: known are %s", shown(key).text, known);
}
