#include "record.h"

#include "audit.h"
#include "blockers.h"
#include "own.h"
#include "text.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* One key=value; both lie in the record's text. */
struct field {
    char *key, *value;
    bool quoted;
};

/* ---- numbers ---- */

/* The whole of TEXT in BASE, without sign or white space. */
static int read_number(const char *text, unsigned int base, uint64_t max, uint64_t *ret)
{
    uint64_t value = 0;

    if (!*text)
        return -EBADMSG;
    for (; *text; text++) {
        unsigned int digit = *text >= '0' && *text <= '9'   ? (unsigned int)(*text - '0')
                             : *text >= 'a' && *text <= 'f' ? (unsigned int)(*text - 'a') + 10
                                                            : 99;

        if (digit >= base || value > (max - digit) / base)
            return -EBADMSG;
        value = value * base + digit;
    }
    *ret = value;
    return 0;
}

/* ---- the record's head and its fields ---- */

static char *cut_at(char *text, char end)
{
    char *at = strchr(text, end);

    if (!at)
        return NULL;
    *at = '\0';
    return at + 1;
}

static int read_head(char *text, struct record *record, char **ret_rest)
{
    static const char start[] = "audit(";
    char *seconds, *milli, *serial, *rest;
    uint64_t s, ms;

    if (strncmp(text, start, sizeof(start) - 1) != 0)
        return -EBADMSG;
    seconds = text + sizeof(start) - 1;
    milli = cut_at(seconds, '.');
    serial = milli ? cut_at(milli, ':') : NULL;
    rest = serial ? cut_at(serial, ')') : NULL;
    if (!rest || *rest != ':' || strlen(milli) != 3 ||
        read_number(seconds, 10, INT64_MAX / 1000 - 1, &s) < 0 ||
        read_number(milli, 10, 999, &ms) < 0 ||
        read_number(serial, 10, UINT64_MAX, &record->serial) < 0)
        return -EBADMSG;
    record->at_ms = (int64_t)(s * 1000 + ms);
    *ret_rest = rest + 1;
    return 0;
}

/* 1: a field; 0: none is left; -EBADMSG. */
static int next_field(char **cursor, struct field *ret)
{
    char *at = *cursor + strspn(*cursor, " "), *end;

    if (!*at)
        return 0;
    ret->key = at;
    at += strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    if (at == ret->key || *at != '=')
        return -EBADMSG;
    *at++ = '\0';
    ret->quoted = *at == '"';
    ret->value = ret->quoted ? at + 1 : at;
    end = ret->quoted ? strchr(ret->value, '"') : ret->value + strcspn(ret->value, " ");
    if (!end || (ret->quoted && end[1] != '\0' && end[1] != ' '))
        return -EBADMSG;
    *cursor = end + (*end != '\0');
    *end = '\0';
    return 1;
}

/* ---- text ---- */

static int hexadecimal(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                          : -1;
}

/* In place.  An abstract socket's name begins with a NUL, which is written as @ by custom. */
static int decode(char *text)
{
    size_t length = strlen(text), n = 0;

    if (length == 0 || length % 2)
        return -EBADMSG;
    for (size_t i = 0; i < length; i += 2) {
        int high = hexadecimal(text[i]), low = hexadecimal(text[i + 1]);

        if (high < 0 || low < 0)
            return -EBADMSG;
        text[n] = (char)(high << 4 | low);
        if (text[n] == '\0')
            text[n] = '@';
        n++;
    }
    text[n] = '\0';
    return 0;
}

/* A word among others when it is told, if WORD; else it stands alone, as a path does. */
static int take_text(const struct field *field, bool word, char *out, size_t size)
{
    if (!field->quoted && text_equal(field->value, "(null)")) {
        out[0] = '\0';
        return 0;
    }
    if (!field->quoted && decode(field->value) < 0)
        return -EBADMSG;
    if (word)
        text_escape_word(field->value, out, size);
    else
        text_escape(field->value, out, size);
    return 0;
}

static void add_word(const struct field *field, char *object)
{
    size_t at = strlen(object);
    char word[RECORD_WORD_MAX];

    text_escape_word(field->value, word, sizeof(word));
    (void)snprintf(object + at, RECORD_OBJECT_MAX - at, "%s%s=%s", at ? " " : "", field->key, word);
}

/* ---- what each type must have ---- */

enum {
    HAS_DOMAIN = 1 << 0,
    HAS_BLOCKERS = 1 << 1,
    HAS_PID = 1 << 2,
    HAS_UID = 1 << 3,
    HAS_DENIALS = 1 << 4,
    HAS_COMM = 1 << 5,
    HAS_EXE = 1 << 6,
    HAS_ALLOCATED = 1 << 7,
    HAS_DEALLOCATED = 1 << 8,
    HAS_SWITCHED = 1 << 9,
};

static int take_number(const char *value, unsigned int base, uint64_t max, uint64_t *slot)
{
    uint64_t number;
    int r = read_number(value, base, max, &number);

    if (r == 0)
        *slot = number;
    return r;
}

static int take_id(const char *value, struct record *record, bool is_pid)
{
    uint64_t number;
    int r = read_number(value, 10, is_pid ? INT32_MAX : UINT32_MAX, &number);

    if (r == 0 && is_pid)
        record->pid = (int32_t)number;
    else if (r == 0)
        record->uid = (uint32_t)number;
    return r;
}

static int take_denial(struct field *field, struct record *record, unsigned int *has)
{
    static const char *const words[] = {
        "daddr", "dest", "saddr", "src", "laddr", "lport", "faddr", "fport", "opid", "ioctlcmd"};

    if (text_equal(field->key, "domain")) {
        *has |= HAS_DOMAIN;
        return take_number(field->value, 16, UINT64_MAX, &record->domain);
    }
    if (text_equal(field->key, "blockers")) {
        *has |= HAS_BLOCKERS;
        return blockers_parse(field->value, &record->blockers) < 0 ? -EBADMSG : 0;
    }
    if (text_equal(field->key, "path") || text_equal(field->key, "name"))
        return take_text(field, false, record->object, sizeof(record->object));
    if (text_equal(field->key, "dev"))
        return take_text(field, true, record->dev, sizeof(record->dev));
    if (text_equal(field->key, "ino"))
        return take_number(field->value, 10, UINT64_MAX, &record->ino);
    if (text_equal(field->key, "ocomm") && !field->quoted && decode(field->value) < 0)
        return -EBADMSG;
    if (text_equal(field->key, "ocomm"))
        add_word(field, record->object);
    for (size_t i = 0; i < array_size(words); i++) {
        if (text_equal(field->key, words[i]))
            add_word(field, record->object);
    }
    return 0;
}

static int take_domain(struct field *field, struct record *record, unsigned int *has)
{
    if (text_equal(field->key, "domain")) {
        *has |= HAS_DOMAIN;
        return take_number(field->value, 16, UINT64_MAX, &record->domain);
    }
    if (text_equal(field->key, "status")) {
        *has |= text_equal(field->value, "allocated")     ? HAS_ALLOCATED
                : text_equal(field->value, "deallocated") ? HAS_DEALLOCATED
                                                          : 0U;
        return 0;
    }
    if (text_equal(field->key, "pid") || text_equal(field->key, "uid")) {
        bool is_pid = field->key[0] == 'p';

        *has |= is_pid ? HAS_PID : HAS_UID;
        return take_id(field->value, record, is_pid);
    }
    if (text_equal(field->key, "denials")) {
        *has |= HAS_DENIALS;
        return take_number(field->value, 10, UINT64_MAX, &record->denials);
    }
    return 0;
}

static int take_call(struct field *field, struct record *record, unsigned int *has)
{
    if (text_equal(field->key, "pid")) {
        *has |= HAS_PID;
        return take_id(field->value, record, true);
    }
    if (text_equal(field->key, "comm")) {
        *has |= HAS_COMM;
        return take_text(field, true, record->comm, sizeof(record->comm));
    }
    if (text_equal(field->key, "exe")) {
        *has |= HAS_EXE;
        return take_text(field, true, record->exe, sizeof(record->exe));
    }
    return 0;
}

static int take_change(struct field *field, struct record *record, unsigned int *has)
{
    (void)record;
    if (text_equal(field->key, "audit_enabled"))
        *has |= HAS_SWITCHED;
    return 0;
}

static int take_fields(char *rest, int (*take)(struct field *, struct record *, unsigned int *),
    struct record *record, unsigned int *ret_has)
{
    struct field field;
    int r;

    while ((r = next_field(&rest, &field)) > 0) {
        r = take(&field, record, ret_has);
        if (r < 0)
            return r;
    }
    return r;
}

static bool all_of(unsigned int has, unsigned int wanted)
{
    return (has & wanted) == wanted;
}

/* Which kind it is, by what it has. */
static int settle(uint16_t type, unsigned int has, struct record *record)
{
    switch (type) {
    case AUDIT_RECORD_LANDLOCK_ACCESS:
        record->kind = RECORD_DENIAL;
        return all_of(has, HAS_DOMAIN | HAS_BLOCKERS) ? 0 : -EBADMSG;
    case AUDIT_RECORD_LANDLOCK_DOMAIN:
        if (!(has & (HAS_ALLOCATED | HAS_DEALLOCATED)))
            return RECORD_E_OTHER;
        record->kind = has & HAS_ALLOCATED ? RECORD_DOMAIN_NEW : RECORD_DOMAIN_GONE;
        return all_of(has,
                   has & HAS_ALLOCATED ? HAS_DOMAIN | HAS_PID | HAS_UID : HAS_DOMAIN | HAS_DENIALS)
                   ? 0
                   : -EBADMSG;
    case AUDIT_RECORD_SYSCALL:
        record->kind = RECORD_CALL;
        return all_of(has, HAS_PID | HAS_COMM | HAS_EXE) ? 0 : -EBADMSG;
    default:
        record->kind = RECORD_SWITCHED;
        return has & HAS_SWITCHED ? 0 : RECORD_E_OTHER;
    }
}

int record_read(uint16_t type, char *text, struct record *ret)
{
    int (*take)(struct field *, struct record *, unsigned int *) = NULL;
    unsigned int has = 0;
    char *rest;
    int r;

    memset(ret, 0, sizeof(*ret));
    switch (type) {
    case AUDIT_RECORD_LANDLOCK_ACCESS:
        take = take_denial;
        break;
    case AUDIT_RECORD_LANDLOCK_DOMAIN:
        take = take_domain;
        break;
    case AUDIT_RECORD_SYSCALL:
        take = take_call;
        break;
    case AUDIT_RECORD_CONFIG_CHANGE:
        take = take_change;
        break;
    case AUDIT_RECORD_END:
        break;
    default:
        return RECORD_E_OTHER;
    }
    r = read_head(text, ret, &rest);
    if (r < 0)
        return r;
    if (!take) {
        ret->kind = RECORD_END;
        return 0;
    }
    r = take_fields(rest, take, ret, &has);
    return r < 0 ? r : settle(type, has, ret);
}
