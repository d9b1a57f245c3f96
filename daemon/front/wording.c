#include "wording.h"

#include "text.h"
#include <errno.h>
#include <string.h>

/* Tag and length before an element of a repeated field. */
#define ELEMENT_OVERHEAD 4

char *wording_constant(const char *text)
{
    return (char *)(uintptr_t)text;
}

void *wording_array(struct wording *wording, size_t count, size_t size)
{
    void *at = count <= SIZE_MAX / size ? arena_alloc(wording->arena, count * size) : NULL;

    if (!at && wording->error == 0)
        wording->error = -ENOMEM;
    return at;
}

static bool is_plain(const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x20 || c > 0x7e)
            return false;
    }
    return true;
}

char *wording_string(struct wording *wording, struct seam_text text)
{
    const char *plain = seam_text(wording->message, text);
    size_t size;
    char *escaped;

    if (!plain)
        return wording_constant("");
    if (is_plain(plain))
        return wording_constant(plain);
    size = strlen(plain) * 4 + 6; /* each byte may become \xNN; text_escape() keeps five in hand */
    escaped = wording_array(wording, size, 1);
    if (!escaped)
        return wording_constant("");
    text_escape(plain, escaped, size);
    return escaped;
}

ProtobufCBinaryData wording_bytes(struct wording *wording, struct seam_text text)
{
    const char *bytes = seam_text(wording->message, text);

    if (!bytes)
        return (ProtobufCBinaryData){0};
    return (ProtobufCBinaryData){strlen(bytes), (uint8_t *)(uintptr_t)bytes};
}

ProtobufCBinaryData *wording_list(struct wording *wording, struct seam_list list, size_t budget,
    size_t *ret_count, protobuf_c_boolean *ret_cut)
{
    ProtobufCBinaryData *items = wording_array(wording, list.count + (size_t)1, sizeof(*items));
    const char *at = seam_list_first(wording->message, list);
    size_t count = 0, used = 0;

    if (!items)
        return NULL;
    for (; count < list.count; count++) {
        size_t length = strlen(at);

        used += length + ELEMENT_OVERHEAD;
        if (used > budget) {
            *ret_cut = 1;
            break;
        }
        items[count] = (ProtobufCBinaryData){length, (uint8_t *)(uintptr_t)at};
        at = seam_list_next(at);
    }
    *ret_count = count;
    return items;
}

void wording_reason(uint32_t reason, Saphan__V1__Reason *out)
{
    const struct reason_entry *entry = reason_entry(reason);

    saphan__v1__reason__init(out);
    out->slug = wording_constant(entry->slug);
    out->meaning = wording_constant(entry->meaning);
    out->remedy = wording_constant(entry->remedy);
}
