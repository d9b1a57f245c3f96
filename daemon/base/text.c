#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Reads the decimal number TEXT begins with; *RET_END is what stands behind it. */
static int parse_leading(const char *text, uint64_t max, uint64_t *ret_value, const char **ret_end)
{
    uint64_t value = 0;
    const char *at = text;

    if (*at < '0' || *at > '9' || (at[0] == '0' && at[1] >= '0' && at[1] <= '9'))
        return -EINVAL;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');

        if (value > (UINT64_MAX - digit) / 10)
            return -ERANGE;
        value = value * 10 + digit;
    }
    if (value > max)
        return -ERANGE;
    *ret_value = value;
    *ret_end = at;
    return 0;
}

int text_parse_uint(const char *text, uint64_t max, uint64_t *ret_value)
{
    const char *end;
    uint64_t value;
    int r;

    r = parse_leading(text, max, &value, &end);
    if (r < 0)
        return r;
    if (*end)
        return -EINVAL;
    *ret_value = value;
    return 0;
}

struct unit {
    const char *name;
    uint64_t factor;
};

static int parse_with_unit(
    const char *text, const struct unit *units, size_t n_units, uint64_t *ret_value)
{
    const char *end;
    uint64_t value;
    int r;

    r = parse_leading(text, UINT64_MAX, &value, &end);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n_units; i++) {
        if (strcmp(end, units[i].name) != 0)
            continue;
        if (value > (uint64_t)INT64_MAX / units[i].factor)
            return -ERANGE;
        *ret_value = value * units[i].factor;
        return 0;
    }
    return -EINVAL;
}

int text_parse_size(const char *text, uint64_t *ret_bytes)
{
    static const struct unit units[] = {
        {"", 1}, {"K", 1ULL << 10}, {"M", 1ULL << 20}, {"G", 1ULL << 30}, {"T", 1ULL << 40}};

    return parse_with_unit(text, units, array_size(units), ret_bytes);
}

int text_parse_duration(const char *text, uint64_t *ret_milliseconds)
{
    static const struct unit units[] = {
        {"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};

    return parse_with_unit(text, units, array_size(units), ret_milliseconds);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

int text_parse_sha256(const char *text, uint8_t ret_digest[32])
{
    uint8_t digest[32];

    if (strlen(text) != 64)
        return -EINVAL;
    for (size_t i = 0; i < 32; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return -EINVAL;
        digest[i] = (uint8_t)(high * 16 + low);
    }
    memcpy(ret_digest, digest, sizeof(digest));
    return 0;
}

void text_format_sha256(const uint8_t digest[32], char ret_text[65])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < 32; i++) {
        ret_text[2 * i] = digits[digest[i] >> 4];
        ret_text[2 * i + 1] = digits[digest[i] & 15];
    }
    ret_text[64] = '\0';
}

int text_parse_bool(const char *text, bool *ret_value)
{
    if (strcmp(text, "yes") == 0)
        *ret_value = true;
    else if (strcmp(text, "no") == 0)
        *ret_value = false;
    else
        return -EINVAL;
    return 0;
}

bool text_equal(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

bool text_starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool text_path_beneath(const char *path, const char *prefix)
{
    size_t length = strlen(prefix);

    if (length == 1 && prefix[0] == '/')
        return path[0] == '/';
    return strncmp(path, prefix, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

bool text_path_is_normal(const char *path)
{
    if (path[0] != '/')
        return false;
    if (path[1] == '\0')
        return true;
    while (*path) {
        size_t length;

        path++;
        length = strcspn(path, "/");
        if (length == 0 || (length == 1 && path[0] == '.') ||
            (length == 2 && path[0] == '.' && path[1] == '.'))
            return false;
        path += length;
    }
    return true;
}

char *text_format(const char *format, ...)
{
    va_list args;
    char *out = NULL;
    int length;

    va_start(args, format);
    length = vasprintf(&out, format, args);
    va_end(args);
    return length < 0 ? NULL : out;
}

static void escape(const char *text, unsigned char lowest, char *out, size_t size)
{
    size_t at = 0;

    for (; *text && at + 5 < size; text++) {
        unsigned char c = (unsigned char)*text;

        if (c >= lowest && c < 0x7f && c != '\\')
            out[at++] = (char)c;
        else
            at += (size_t)snprintf(out + at, size - at, "\\x%02x", c);
    }
    out[at] = '\0';
}

void text_escape(const char *text, char *out, size_t size)
{
    escape(text, ' ', out, size);
}

void text_escape_word(const char *text, char *out, size_t size)
{
    escape(text, ' ' + 1, out, size);
}
