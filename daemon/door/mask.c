#include "mask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How long a beginning of the secret is seen when C follows the SEEN bytes of one. */
static size_t follow(const struct mask *mask, size_t seen, char c)
{
    while (seen > 0 && mask->secret[seen] != c)
        seen = mask->shorter[seen - 1];
    return mask->secret[seen] == c ? seen + 1 : 0;
}

int mask_init(struct mask *mask, const char *secret, size_t length)
{
    *mask = (struct mask){.secret = secret, .length = length};
    if (!secret)
        return 0;
    mask->shorter = calloc(length, sizeof(*mask->shorter));
    mask->at = calloc(length, sizeof(*mask->at));
    if (!mask->shorter || !mask->at)
        return -ENOMEM;
    for (size_t i = 1; i < length; i++)
        mask->shorter[i] = (uint32_t)follow(mask, mask->shorter[i - 1], secret[i]);
    return 0;
}

void mask_done(struct mask *mask)
{
    free(mask->shorter);
    free(mask->at);
    free(mask->held);
    *mask = (struct mask){0};
}

/* The byte at AT of TEXT is of the answer's text. */
static void take_byte(struct mask *mask, char *text, size_t at)
{
    size_t seen = follow(mask, mask->seen, text[at]);

    if (seen > 0) {
        /* Of those seen before, the last that still count. */
        memmove(mask->at, mask->at + mask->seen - (seen - 1), (seen - 1) * sizeof(*mask->at));
        mask->at[seen - 1] = (uint32_t)at;
    }
    mask->seen = seen;
    if (seen < mask->length)
        return;
    for (size_t i = 0; i < seen; i++)
        text[mask->at[i]] = '*';
    mask->seen = 0;
    mask->masked++;
}

static void take_text(struct mask *mask, char *text, size_t from, size_t size)
{
    size_t at = from, end = from + size;

    while (at < end) {
        if (mask->seen == 0) {
            const char *first = memchr(text + at, mask->secret[0], end - at);

            if (!first)
                return;
            at = (size_t)(first - text);
        }
        take_byte(mask, text, at++);
    }
}

/* From AT of TEXT on, where the secret may begin; its own bytes are not kept, for they are known.
 */
static int hold(struct mask *mask, const char *text, size_t at, size_t size)
{
    char *held;

    mask->held_size = size;
    if (size == 0)
        return 0;
    if (size > MASK_HELD_MAX)
        return -E2BIG;
    held = realloc(mask->held, size);
    if (!held)
        return -ENOMEM;
    mask->held = held;
    memcpy(held, text + at, size);
    for (size_t i = 0; i < mask->seen; i++) {
        mask->at[i] -= (uint32_t)at;
        held[mask->at[i]] = '*';
    }
    return 0;
}

/* What is held back, as it came. */
static void put_back(const struct mask *mask, char *out)
{
    if (mask->held_size > 0)
        memcpy(out, mask->held, mask->held_size);
    for (size_t i = 0; i < mask->seen; i++)
        out[mask->at[i]] = mask->secret[i];
}

int mask_run(struct mask *mask, char *buffer, size_t size, char **ret, size_t *ret_size)
{
    char *text = buffer + MASK_HELD_MAX - mask->held_size;
    size_t at = mask->held_size, whole = at + size, end;

    *ret = text;
    *ret_size = size;
    if (!mask->secret)
        return 0;
    put_back(mask, text);
    while (at < whole) {
        bool is_text;
        int64_t part = http_answer_run(&mask->answer, text + at, whole - at, &is_text);

        if (part < 0)
            return (int)part;
        if (is_text)
            take_text(mask, text, at, (size_t)part);
        at += (size_t)part;
    }
    end = mask->seen > 0 ? mask->at[0] : whole;
    *ret_size = end;
    return hold(mask, text, end, whole - end);
}

size_t mask_end(struct mask *mask, char *out)
{
    size_t size = mask->held_size;

    put_back(mask, out);
    mask->seen = mask->held_size = 0;
    return size;
}
