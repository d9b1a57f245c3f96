/* Values as people write them, and names of numbers. */
#include "failure.h"
#include "text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const boundary_names[] = {"", "domain", "container", "none"};
static const char *const view_names[] = {"", "minimal", "host"};
static const char *const net_names[] = {"", "none", "host", "door", "landlock-net", "cgroup-bpf"};
static const char *const colour_names[] = {"", "GREEN", "RED", "REFUSED", "INDETERMINATE"};
static const char *const state_names[] = {"", "building", "running", "ending", "ended"};

static const char *name_of(const char *const *names, size_t count, unsigned int number)
{
    return number > 0 && number < count ? names[number] : "?";
}

static int number_of(
    const char *const *names, size_t count, const char *name, unsigned int *ret_number)
{
    for (unsigned int i = 1; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            *ret_number = i;
            return 0;
        }
    }
    return SAPHAN_E_VALUE;
}

const char *saphan_boundary_name(enum saphan_boundary boundary)
{
    return name_of(boundary_names, array_size(boundary_names), boundary);
}

const char *saphan_view_name(enum saphan_view view)
{
    return name_of(view_names, array_size(view_names), view);
}

const char *saphan_net_name(enum saphan_net net)
{
    return name_of(net_names, array_size(net_names), net);
}

const char *saphan_colour_name(enum saphan_colour colour)
{
    return name_of(colour_names, array_size(colour_names), colour);
}

const char *saphan_leg_state_name(enum saphan_leg_state state)
{
    return name_of(state_names, array_size(state_names), state);
}

int saphan_boundary_parse(const char *name, enum saphan_boundary *ret)
{
    unsigned int number;
    int r = number_of(boundary_names, array_size(boundary_names), name, &number);

    if (r == 0)
        *ret = (enum saphan_boundary)number;
    return r;
}

int saphan_view_parse(const char *name, enum saphan_view *ret)
{
    unsigned int number;
    int r = number_of(view_names, array_size(view_names), name, &number);

    if (r == 0)
        *ret = (enum saphan_view)number;
    return r;
}

int saphan_net_parse(const char *name, enum saphan_net *ret)
{
    unsigned int number;
    int r = number_of(net_names, array_size(net_names), name, &number);

    if (r == 0)
        *ret = (enum saphan_net)number;
    return r;
}

static int parse_count(const char *text, uint64_t *ret)
{
    return text_parse_uint(text, INT64_MAX, ret);
}

static int parse_percent(const char *text, uint64_t *ret)
{
    char digits[24];
    size_t length = strlen(text);

    if (length == 0 || length >= sizeof(digits))
        return -EINVAL;
    if (text[length - 1] == '%')
        length--;
    memcpy(digits, text, length);
    digits[length] = '\0';
    return text_parse_uint(digits, UINT32_MAX, ret);
}

struct limit_kind {
    const char *name;
    int (*parse)(const char *text, uint64_t *ret);
    size_t offset;
    const char *form;
};

#define FORM_COUNT "a whole number, as 64"
#define FORM_SIZE "a size, as 512M or 2G"
#define FORM_PERCENT "a percentage of one cpu, as 150"
#define FORM_DURATION "a duration, as 90s, 15m or 500ms"

static const struct limit_kind limit_kinds[] = {
    {"tasks", parse_count, offsetof(struct saphan_limits, tasks), FORM_COUNT},
    {"memory", text_parse_size, offsetof(struct saphan_limits, memory), FORM_SIZE},
    {"cpu", parse_percent, offsetof(struct saphan_limits, cpu_percent), FORM_PERCENT},
    {"wall", text_parse_duration, offsetof(struct saphan_limits, wall_ms), FORM_DURATION},
    {"output", text_parse_size, offsetof(struct saphan_limits, output), FORM_SIZE},
    {"files", parse_count, offsetof(struct saphan_limits, files), FORM_COUNT},
};

static int limit_set(struct saphan_limits *limits, char *item, struct saphan_error *error)
{
    char *value = strchr(item, '=');

    if (value)
        *value++ = '\0';
    for (size_t i = 0; i < array_size(limit_kinds); i++) {
        const struct limit_kind *kind = &limit_kinds[i];
        uint64_t number = 0;

        if (strcmp(kind->name, item) != 0)
            continue;
        if (!value || kind->parse(value, &number) < 0 || number == 0)
            return failure(error, SAPHAN_E_VALUE, "limit", "%s=%s: wanted %s, above 0", item,
                value ? value : "", kind->form);
        memcpy((char *)limits + kind->offset, &number, sizeof(number));
        return 0;
    }
    return failure(error, SAPHAN_E_VALUE, "limit",
        "%s: no such limit: there are tasks, memory, cpu, wall, output, files", item);
}

int saphan_limits_parse(struct saphan_limits *limits, const char *text, struct saphan_error *error)
{
    struct saphan_limits out = *limits;
    auto_free char *copy = strdup(text);
    char *at = copy;
    int r;

    if (!copy)
        return failure(error, -ENOMEM, "limit", "%s", text);
    while (at) {
        r = limit_set(&out, strsep(&at, ","), error);
        if (r != 0)
            return r;
    }
    *limits = out;
    return 0;
}

/* Takes one ",NAME=VALUE" off the end of TEXT.  False: there is none, the rest is the path; or it
 * is wrong, or there for the second time, and *RET_RESULT < 0.  A path may hold commas, but
 * ",NAME=" is a condition or a mistake. */
static bool artefact_item(
    char *text, struct saphan_artefact *artefact, bool *has_size, int *ret_result)
{
    char *comma = strrchr(text, ',');

    if (!comma || comma[1 + strspn(comma + 1, "abcdefghijklmnopqrstuvwxyz0123456789-")] != '=')
        return false;
    if (text_starts_with(comma, ",min-size=") && !*has_size) {
        *ret_result = text_parse_size(comma + strlen(",min-size="), &artefact->min_size);
        *has_size = true;
    } else if (text_starts_with(comma, ",sha256=") && !artefact->has_sha256) {
        *ret_result = text_parse_sha256(comma + strlen(",sha256="), artefact->sha256);
        artefact->has_sha256 = true;
    } else {
        *ret_result = -EINVAL;
    }
    if (*ret_result == 0)
        *comma = '\0';
    return *ret_result == 0;
}

int saphan_artefact_parse(char *text, struct saphan_artefact *ret, struct saphan_error *error)
{
    struct saphan_artefact artefact = {.path = text};
    bool has_size = false;
    int r = 0;

    while (artefact_item(text, &artefact, &has_size, &r))
        ;
    if (r < 0)
        return failure(error, SAPHAN_E_VALUE, "artefact",
            "%s: wanted PATH[,min-size=SIZE][,sha256=64 HEX DIGITS]", text);
    if (!text[0])
        return failure(error, SAPHAN_E_VALUE, "artefact", "the path is empty");
    *ret = artefact;
    return 0;
}

/* Takes one ",ca=@FILE" or ",header=NAME:@FILE" off the end of TEXT.  False: there is none, or it
 * is wrong, and *RET_RESULT < 0. */
static bool forward_item(char *text, struct saphan_forward *forward, int *ret_result)
{
    char *comma = strrchr(text, ','), *at;

    if (!comma)
        return false;
    *ret_result = -EINVAL;
    if (text_starts_with(comma, ",ca=@") && comma[5] && !forward->ca) {
        forward->ca = comma + 5;
    } else if (text_starts_with(comma, ",header=") && !forward->header) {
        at = strstr(comma, ":@");
        if (!at || at == comma + 8 || !at[2])
            return false;
        *at = '\0';
        forward->header = comma + 8;
        forward->key = at + 2;
    } else {
        return false;
    }
    *comma = '\0';
    *ret_result = 0;
    return true;
}

int saphan_forward_parse(char *text, struct saphan_forward *ret, struct saphan_error *error)
{
    struct saphan_forward forward = {0};
    char *equals = strchr(text, '=');
    uint64_t port;
    int r = 0;

    if (equals)
        *equals = '\0';
    if (!equals || text_parse_uint(text, UINT16_MAX, &port) < 0 || port == 0 || !equals[1])
        return failure(error, SAPHAN_E_VALUE, "forward",
            "%s: wanted PORT=HOST:PORT, PORT=unix:PATH or PORT=https://HOST[:PORT]", text);
    forward.port = (uint16_t)port;
    forward.target = equals + 1;
    while (text_starts_with(forward.target, "https://") && forward_item(equals + 1, &forward, &r))
        ;
    if (r < 0)
        return failure(error, SAPHAN_E_VALUE, "forward",
            "%s: behind the host: ,header=NAME:@FILE and ,ca=@FILE", equals + 1);
    *ret = forward;
    return 0;
}
