#include "mask.h"

#include <string.h>

/* The longest end of TEXT that is a beginning of the secret, and not all of it. */
static size_t begins(const struct mask *mask, const char *text, size_t size)
{
    size_t most = size < mask->length - 1 ? size : mask->length - 1;
    const char *at = text + size - most, *end = text + size;

    while (at < end && (at = memchr(at, mask->secret[0], (size_t)(end - at)))) {
        if (memcmp(at, mask->secret, (size_t)(end - at)) == 0)
            return (size_t)(end - at);
        at++;
    }
    return 0;
}

char *mask_run(struct mask *mask, char *buffer, size_t size, size_t *ret_size)
{
    char *text = buffer + mask->length - mask->held, *at = text;
    size_t length = size + mask->held;

    if (!mask->secret) {
        *ret_size = size;
        return buffer + mask->length;
    }
    memcpy(text, mask->secret, mask->held);
    while ((at = memmem(at, length - (size_t)(at - text), mask->secret, mask->length))) {
        memset(at, '*', mask->length);
        at += mask->length;
        mask->masked++;
    }
    mask->held = begins(mask, text, length);
    *ret_size = length - mask->held;
    return text;
}

size_t mask_end(struct mask *mask, char *out)
{
    size_t size = mask->held;

    if (size > 0)
        memcpy(out, mask->secret, size);
    mask->held = 0;
    return size;
}
