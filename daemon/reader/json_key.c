#include "json_key.h"

#include "own.h"
#include "text.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static void broken(struct nesting_answer *ret, const char *why)
{
    ret->found = FOUND_BROKEN;
    text_escape(why, ret->why, sizeof(ret->why));
}

/* NULL: some object on the way has no such name.  What stands on the way and is no object counts as
 * the value: it is not what the profile expects, and is judged as unknown. */
static const json_t *walk(const json_t *at, const char *key)
{
    auto_free char *copy = strdup(key);
    char *rest = copy, *name;

    while (json_is_object(at) && (name = strsep(&rest, ".")))
        at = json_object_get(at, name);
    return copy ? at : NULL;
}

static void show(const json_t *value, struct nesting_answer *ret)
{
    int length = 0;

    ret->found = FOUND_VALUE;
    switch (json_typeof(value)) {
    case JSON_STRING:
        length = snprintf(ret->value, sizeof(ret->value), "%s", json_string_value(value));
        if (strlen(json_string_value(value)) != json_string_length(value))
            length = (int)sizeof(ret->value); /* a NUL inside */
        break;
    case JSON_INTEGER:
        length = snprintf(
            ret->value, sizeof(ret->value), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        length = snprintf(ret->value, sizeof(ret->value), "%g", json_real_value(value));
        break;
    default:
        length = snprintf(ret->value, sizeof(ret->value), "%s",
            json_is_true(value)     ? "true"
            : json_is_false(value)  ? "false"
            : json_is_null(value)   ? "null"
            : json_is_object(value) ? "object"
                                    : "array");
    }
    if (length < 0 || (size_t)length >= sizeof(ret->value))
        broken(ret, "a value too long to be told");
}

void json_key(const char *text, size_t length, const char *key, struct nesting_answer *ret)
{
    json_error_t error;
    char why[NESTING_VALUE_MAX];
    const json_t *value;
    json_t *root;

    *ret = (struct nesting_answer){.found = FOUND_NOTHING};
    root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        (void)snprintf(why, sizeof(why), "line %d: not JSON: %.80s", error.line, error.text);
        broken(ret, why);
        return;
    }
    value = json_is_object(root) ? walk(root, key) : NULL;
    if (!json_is_object(root))
        broken(ret, "not an object");
    else if (value)
        show(value, ret);
    json_decref(root);
}
