#include "form.h"

#include "text.h"
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int form_refuse(struct form *form, enum reason reason, const char *format, ...)
{
    va_list args;

    form->refusal->reason = reason;
    va_start(args, format);
    (void)vsnprintf(form->refusal->detail, sizeof(form->refusal->detail), format, args);
    va_end(args);
    return FORM_E_REFUSED;
}

/* How many values of FIELD stand in MESSAGE, and where the first one is. */
static size_t field_values(
    const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, const void **ret_first)
{
    const uint8_t *start = (const uint8_t *)message;
    const void *at = start + field->offset;
    size_t count = 1;

    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        memcpy(&count, start + field->quantifier_offset, sizeof(count));
        memcpy(&at, start + field->offset, sizeof(at));
    } else if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        uint32_t which;

        memcpy(&which, start + field->quantifier_offset, sizeof(which));
        count = which == field->id;
    }
    *ret_first = at;
    return count;
}

static int check_string(
    struct form *form, const ProtobufCFieldDescriptor *field, const char *string)
{
    size_t allocated = arena_size_of(form->arena, string);

    if (allocated > 0 && strlen(string) + 1 != allocated)
        return form_malformed(form, "%s: a NUL byte", field->name);
    return 0;
}

static int check_field(
    struct form *form, const ProtobufCFieldDescriptor *field, const ProtobufCMessage *message)
{
    const void *first;
    size_t count;

    if (field->type != PROTOBUF_C_TYPE_STRING && field->type != PROTOBUF_C_TYPE_MESSAGE)
        return 0;
    count = field_values(message, field, &first);
    for (size_t i = 0; i < count; i++) {
        const void *value = ((const void *const *)first)[i];
        int r = 0;

        if (value && field->type == PROTOBUF_C_TYPE_STRING)
            r = check_string(form, field, value);
        else if (value)
            r = form_message(form, value);
        if (r != 0)
            return r;
    }
    return 0;
}

/* Recurses as deep as the types nest, which no message can make deeper: no type contains itself. */
int form_message(struct form *form, const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;

    if (message->n_unknown_fields > 0)
        return form_malformed(form, "%s: unknown field %u", type->short_name,
            (unsigned int)message->unknown_fields[0].tag);
    for (unsigned int i = 0; i < type->n_fields; i++) {
        int r = check_field(form, &type->fields[i], message);

        if (r != 0)
            return r;
    }
    return 0;
}

int form_number(struct form *form, const char *field, uint64_t value, uint64_t first, uint64_t last)
{
    if (value < first || value > last)
        return form_malformed(form, "%s: %llu is not one of %llu..%llu", field,
            (unsigned long long)value, (unsigned long long)first, (unsigned long long)last);
    return 0;
}

int form_text(struct form *form, const char *field, const ProtobufCBinaryData *bytes, size_t max,
    const char **ret)
{
    if (bytes->len == 0) {
        *ret = "";
        return 0;
    }
    if (bytes->len > max)
        return form_malformed(form, "%s: %zu bytes, at most %zu", field, bytes->len, max);
    if (memchr(bytes->data, '\0', bytes->len))
        return form_malformed(form, "%s: a NUL byte", field);
    *ret = (const char *)bytes->data; /* the arena keeps a zero byte behind it */
    return 0;
}

static bool is_normal(const char *path, enum path_form which)
{
    char absolute[PATH_MAX + 1];

    if (path[0] == '/')
        return text_path_is_normal(path);
    if (which != PATH_NORMAL || path[0] == '\0')
        return false;
    (void)snprintf(absolute, sizeof(absolute), "/%s", path);
    return text_path_is_normal(absolute);
}

int form_path(struct form *form, const char *field, const ProtobufCBinaryData *bytes,
    enum path_form which, const char **ret)
{
    const char *path;
    int r;

    r = form_text(form, field, bytes, PATH_MAX - 1, &path);
    if (r != 0)
        return r;
    if (which != PATH_ANY && !is_normal(path, which))
        return form_malformed(form, "%s: not %s path without empty, \".\" or \"..\" components",
            field, which == PATH_ABSOLUTE ? "an absolute" : "a");
    *ret = path;
    return 0;
}

int form_descriptor(struct form *form, const char *field, uint32_t descriptor, int32_t *ret)
{
    if (descriptor > form->n_descriptors)
        return form_malformed(
            form, "%s: descriptor %u, but %zu came", field, descriptor, form->n_descriptors);
    if (descriptor > 0)
        form->named |= UINT64_C(1) << (descriptor - 1);
    *ret = (int32_t)descriptor - 1;
    return 0;
}

int form_all_named(struct form *form)
{
    for (size_t i = 0; i < form->n_descriptors; i++) {
        if (!(form->named >> i & 1))
            return form_malformed(form, "descriptor %zu: no field names it", i + 1);
    }
    return 0;
}
