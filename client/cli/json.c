#include "json.h"

#include "own.h"
#include "say.h"
#include <string.h>

static char base64_digit(unsigned int six)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    return digits[six & 63];
}

json_t *json_base64(const void *bytes, size_t size)
{
    const unsigned char *in = bytes;
    auto_free char *out = malloc((size + 2) / 3 * 4 + 1);
    size_t at = 0;

    if (!out)
        return NULL;
    for (size_t i = 0; i < size; i += 3) {
        unsigned int group = (unsigned int)in[i] << 16;

        group |= i + 1 < size ? (unsigned int)in[i + 1] << 8 : 0;
        group |= i + 2 < size ? (unsigned int)in[i + 2] : 0;
        out[at++] = base64_digit(group >> 18);
        out[at++] = base64_digit(group >> 12);
        out[at++] = i + 1 < size ? base64_digit(group >> 6) : '=';
        out[at++] = i + 2 < size ? base64_digit(group) : '=';
    }
    return json_stringn(out, at);
}

json_t *json_text(const char *text)
{
    json_t *string = json_string(text);

    return string ? string : json_pack("{s:o}", "base64", json_base64(text, strlen(text)));
}

int json_line(json_t *object)
{
    auto_free char *text = NULL;
    size_t size;

    text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (!text)
        return say("out of memory for a line of JSON");
    size = strlen(text);
    text[size] = '\n'; /* in place of the NUL: it is written by its size */
    return print_text(text, size + 1);
}
