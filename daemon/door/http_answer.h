/* http_answer.h - which bytes of a server's answer are its text, and which frame it in chunks.
 * Pure.
 *
 * Not the strict reader of http_head.h: a server is believed, and its answer goes on byte for byte.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_ANSWER_LINE 256 /* bytes of a field that are looked at */

struct http_answer {
    uint8_t state;
    bool chunked;
    bool packed;   /* compressed */
    bool digits;   /* the size of this chunk has some */
    uint64_t left; /* of this chunk */
    uint32_t used; /* of line */
    char line[HTTP_ANSWER_LINE];
};

/* Looks at the first of SIZE bytes (> 0) that came next.  Returns how many of them are alike,
 * RET_TEXT whether they are text (heads, body, trailers) or frame chunks; -EINVAL: chunks that are
 * none. */
int64_t http_answer_run(struct http_answer *answer, const char *bytes, size_t size, bool *ret_text);
