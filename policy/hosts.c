#include "hosts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* -- addresses -- */

struct range {
    uint8_t family;
    uint8_t bits;
    enum address_kind kind;
    uint8_t bytes[16];
};

/* RFC 6890 and its updates, narrowest first where one lies in another. */
static const struct range ranges[] = {
    {4, 8, ADDRESS_UNSPECIFIED, {0}},
    {4, 8, ADDRESS_LOOPBACK, {127}},
    {4, 8, ADDRESS_PRIVATE, {10}},
    {4, 32, ADDRESS_METADATA, {100, 100, 100, 200}},
    {4, 10, ADDRESS_PRIVATE, {100, 64}},
    {4, 12, ADDRESS_PRIVATE, {172, 16}},
    {4, 16, ADDRESS_PRIVATE, {192, 168}},
    {4, 16, ADDRESS_LINK_LOCAL, {169, 254}},
    {4, 32, ADDRESS_METADATA, {168, 63, 129, 16}},
    {4, 24, ADDRESS_RESERVED, {192, 0, 0}},
    {4, 24, ADDRESS_RESERVED, {192, 0, 2}},
    {4, 24, ADDRESS_TRANSLATED, {192, 88, 99}},
    {4, 15, ADDRESS_RESERVED, {198, 18}},
    {4, 24, ADDRESS_RESERVED, {198, 51, 100}},
    {4, 24, ADDRESS_RESERVED, {203, 0, 113}},
    {4, 4, ADDRESS_MULTICAST, {224}},
    {4, 4, ADDRESS_RESERVED, {240}},
    {6, 128, ADDRESS_UNSPECIFIED, {0}},
    {6, 128, ADDRESS_LOOPBACK, {[15] = 1}},
    {6, 96, ADDRESS_TRANSLATED, {0}},
    {6, 96, ADDRESS_TRANSLATED, {[8] = 0xff, [9] = 0xff}},
    {6, 32, ADDRESS_TRANSLATED, {0x00, 0x64, 0xff, 0x9b}},
    {6, 64, ADDRESS_RESERVED, {0x01, 0x00}},
    {6, 32, ADDRESS_TRANSLATED, {0x20, 0x01}},
    {6, 23, ADDRESS_RESERVED, {0x20, 0x01}},
    {6, 32, ADDRESS_RESERVED, {0x20, 0x01, 0x0d, 0xb8}},
    {6, 16, ADDRESS_TRANSLATED, {0x20, 0x02}},
    {6, 20, ADDRESS_RESERVED, {0x3f, 0xff}},
    {6, 128, ADDRESS_METADATA, {0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54}},
    {6, 7, ADDRESS_PRIVATE, {0xfc}},
    {6, 10, ADDRESS_LINK_LOCAL, {0xfe, 0x80}},
    {6, 10, ADDRESS_PRIVATE, {0xfe, 0xc0}},
    {6, 8, ADDRESS_MULTICAST, {0xff}},
};

static bool in_range(const struct range *range, const struct host_address *address)
{
    size_t whole = range->bits / 8, rest = range->bits % 8;
    uint8_t mask = (uint8_t)(0xff00 >> rest);

    if (range->family != address->family || memcmp(range->bytes, address->bytes, whole) != 0)
        return false;
    return rest == 0 || (range->bytes[whole] & mask) == (address->bytes[whole] & mask);
}

enum address_kind address_kind(const struct host_address *address)
{
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (in_range(&ranges[i], address))
            return ranges[i].kind;
    }
    /* Of IPv6 only 2000::/3 was ever given out. */
    if (address->family == 6 && (address->bytes[0] & 0xe0) != 0x20)
        return ADDRESS_RESERVED;
    return address->family == 4 || address->family == 6 ? ADDRESS_PUBLIC : ADDRESS_RESERVED;
}

const char *address_kind_name(enum address_kind kind)
{
    static const char *const names[] = {"public", "unspecified", "loopback", "private",
        "link-local", "metadata", "multicast", "reserved", "translated"};

    return (size_t)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "?";
}

bool address_equal(const struct host_address *a, const struct host_address *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

void address_format(const struct host_address *address, char out[ADDRESS_TEXT_MAX])
{
    if (!inet_ntop(
            address->family == 4 ? AF_INET : AF_INET6, address->bytes, out, ADDRESS_TEXT_MAX))
        out[0] = '\0';
}

static bool is_mapped(const uint8_t bytes[16])
{
    static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

    return memcmp(bytes, prefix, sizeof(prefix)) == 0;
}

static int parse_address6(const char *text, struct host_address *ret)
{
    uint8_t bytes[16];

    if (inet_pton(AF_INET6, text, bytes) != 1)
        return -EINVAL;
    *ret = (struct host_address){.family = is_mapped(bytes) ? 4 : 6};
    if (ret->family == 4)
        memcpy(ret->bytes, bytes + 12, 4);
    else
        memcpy(ret->bytes, bytes, 16);
    return 0;
}

/* -- names -- */

static bool is_label_byte(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static bool is_name(const char *name)
{
    size_t label = 0;

    for (size_t i = 0; name[i]; i++) {
        if (name[i] == '.') {
            if (label == 0)
                return false;
            label = 0;
            continue;
        }
        if (!is_label_byte((unsigned char)name[i]) || ++label > 63)
            return false;
    }
    return label > 0;
}

/* A name whose last label is a number in any base is what some program would read as an address. */
static bool ends_in_number(const char *name)
{
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;

    if (last[0] == '0' && last[1] == 'x')
        return last[2 + strspn(last + 2, "0123456789abcdef")] == '\0';
    return last[strspn(last, "0123456789")] == '\0';
}

static int parse_host(const char *host, size_t length, struct host_pattern *ret)
{
    char text[HOST_NAME_LIMIT];

    if (length == 0 || length >= sizeof(text) || memchr(host, '\0', length))
        return -EINVAL;
    if (host[0] == '[') {
        if (host[length - 1] != ']' || length < 4)
            return -EINVAL;
        host++;
        length -= 2;
        if (!memchr(host, ':', length))
            return -EINVAL;
    }
    for (size_t i = 0; i < length; i++)
        text[i] = (char)(host[i] >= 'A' && host[i] <= 'Z' ? host[i] + ('a' - 'A') : host[i]);
    text[length] = '\0';
    if (strchr(text, ':')) {
        ret->kind = HOST_ADDRESS;
        return parse_address6(text, &ret->address);
    }
    if (inet_pton(AF_INET, text, ret->address.bytes) == 1) {
        ret->kind = HOST_ADDRESS;
        ret->address.family = 4;
        return 0;
    }
    if (!is_name(text) || ends_in_number(text))
        return -EINVAL;
    ret->kind = HOST_EXACT;
    memcpy(ret->name, text, length + 1);
    return 0;
}

int host_target_parse(const char *host, size_t length, uint16_t port, struct host_pattern *ret)
{
    struct host_pattern target = {.port = port};
    int r = port == 0 ? -EINVAL : parse_host(host, length, &target);

    if (r == 0)
        *ret = target;
    return r;
}

int host_port_parse(const char *text, size_t length, uint16_t *ret)
{
    uint32_t value = 0;

    if (length == 0 || length > 5 || text[0] == '0')
        return -EINVAL;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -EINVAL;
        value = value * 10 + (uint32_t)(text[i] - '0');
    }
    if (value > UINT16_MAX)
        return -EINVAL;
    *ret = (uint16_t)value;
    return 0;
}

/* -- patterns -- */

/* Where the port's colon stands, or the end: an IPv6 address without brackets has no port. */
static const char *find_port(const char *text)
{
    const char *bracket = strchr(text, ']'), *colon;

    if (text[0] == '[')
        return bracket ? bracket + 1 : text + strlen(text);
    colon = strchr(text, ':');
    if (!colon || strchr(colon + 1, ':'))
        return text + strlen(text);
    return colon;
}

static int parse_port(const char *at, bool ceiling, uint16_t *ret)
{
    if (*at == '\0') {
        *ret = HOST_PORT_STANDARD;
        return 0;
    }
    if (*at != ':')
        return -EINVAL;
    if (ceiling && strcmp(at, ":*") == 0) {
        *ret = 0;
        return 0;
    }
    return host_port_parse(at + 1, strlen(at + 1), ret);
}

int host_pattern_parse(const char *text, bool ceiling, struct host_pattern *ret)
{
    const char *end = find_port(text);
    struct host_pattern pattern = {0};
    int r = parse_port(end, ceiling, &pattern.port);

    if (r < 0)
        return r;
    if (ceiling && end - text == 1 && text[0] == '*') {
        pattern.kind = HOST_ANY;
    } else if (text[0] == '*' && text[1] == '.') {
        r = parse_host(text + 2, (size_t)(end - text - 2), &pattern);
        if (r == 0 && pattern.kind != HOST_EXACT)
            r = -EINVAL;
        pattern.kind = HOST_BELOW;
    } else {
        r = parse_host(text, (size_t)(end - text), &pattern);
    }
    if (r == 0)
        *ret = pattern;
    return r;
}

void host_pattern_format(const struct host_pattern *pattern, char out[HOST_TEXT_MAX])
{
    char port[8] = "*", address[ADDRESS_TEXT_MAX];

    if (pattern->port != 0)
        (void)snprintf(port, sizeof(port), "%u", pattern->port);
    address_format(&pattern->address, address);
    if (pattern->kind == HOST_ADDRESS)
        (void)snprintf(
            out, HOST_TEXT_MAX, pattern->address.family == 6 ? "[%s]:%s" : "%s:%s", address, port);
    else if (pattern->kind == HOST_ANY)
        (void)snprintf(out, HOST_TEXT_MAX, "*:%s", port);
    else
        (void)snprintf(out, HOST_TEXT_MAX, "%s%s:%s", pattern->kind == HOST_BELOW ? "*." : "",
            pattern->name, port);
}

bool host_pattern_is_canonical(const struct host_pattern *pattern, bool ceiling)
{
    static const uint8_t zeros[12];

    if (!ceiling && (pattern->port == 0 || pattern->kind == HOST_ANY))
        return false;
    switch (pattern->kind) {
    case HOST_ANY:
        return true;
    case HOST_ADDRESS:
        if (pattern->address.family == 4)
            return memcmp(pattern->address.bytes + 4, zeros, sizeof(zeros)) == 0;
        return pattern->address.family == 6 && !is_mapped(pattern->address.bytes);
    case HOST_EXACT:
    case HOST_BELOW:
        return memchr(pattern->name, '\0', sizeof(pattern->name)) && is_name(pattern->name) &&
               !ends_in_number(pattern->name);
    }
    return false;
}

/* NAME lies below PARENT, at any depth. */
static bool lies_below(const char *name, const char *parent)
{
    size_t length = strlen(name), tail = strlen(parent);

    return length > tail + 1 && name[length - tail - 1] == '.' &&
           strcmp(name + length - tail, parent) == 0;
}

bool host_pattern_equal(const struct host_pattern *a, const struct host_pattern *b)
{
    if (a->kind != b->kind || a->port != b->port)
        return false;
    if (a->kind == HOST_ADDRESS)
        return address_equal(&a->address, &b->address);
    return strcmp(a->name, b->name) == 0;
}

/* The one name that stands for addresses which are not public. */
static bool is_localhost(const struct host_pattern *pattern)
{
    return pattern->kind == HOST_EXACT && strcmp(pattern->name, "localhost") == 0;
}

bool host_pattern_covers(const struct host_pattern *ceiling, const struct host_pattern *asked)
{
    if (ceiling->port != 0 && ceiling->port != asked->port)
        return false;
    switch (ceiling->kind) {
    case HOST_ANY:
        if (asked->kind == HOST_ADDRESS)
            return address_kind(&asked->address) == ADDRESS_PUBLIC;
        return !is_localhost(asked);
    case HOST_ADDRESS:
        return asked->kind == HOST_ADDRESS && address_equal(&ceiling->address, &asked->address);
    case HOST_EXACT:
        return asked->kind == HOST_EXACT && strcmp(ceiling->name, asked->name) == 0;
    case HOST_BELOW:
        if (asked->kind == HOST_BELOW && strcmp(ceiling->name, asked->name) == 0)
            return true;
        return (asked->kind == HOST_EXACT || asked->kind == HOST_BELOW) &&
               lies_below(asked->name, ceiling->name);
    }
    return false;
}

const struct host_pattern *host_list_find(
    const struct host_pattern *list, size_t count, const struct host_pattern *target)
{
    for (size_t i = 0; i < count; i++) {
        if (host_pattern_covers(&list[i], target))
            return &list[i];
    }
    return NULL;
}

bool host_address_allowed(const struct host_pattern *list, size_t count,
    const struct host_pattern *target, const struct host_address *address)
{
    enum address_kind kind = address_kind(address);
    struct host_pattern itself = {.kind = HOST_ADDRESS, .port = target->port, .address = *address};

    if (kind == ADDRESS_PUBLIC)
        return true;
    if (kind == ADDRESS_LOOPBACK && is_localhost(target))
        return true;
    for (size_t i = 0; i < count; i++) {
        if (list[i].kind == HOST_ADDRESS && host_pattern_covers(&list[i], &itself))
            return true;
    }
    return false;
}
