#include "http_answer.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

enum {
    HEAD,       /* a line of it: the first of all is the status */
    FIELDS,     /* the lines behind the first */
    CHUNK_SIZE, /* digits, then what else stands in the line */
    CHUNK_DATA, /* left bytes */
    CHUNK_END,  /* the line's end behind them */
    CHUNK_END_LF,
    TEXT_TO_END, /* a body that is as it is, trailers, whatever follows */
    PACKED,      /* a body that nobody looks through */
};

static bool begins_with(const struct http_answer *answer, const char *word)
{
    return strncasecmp(answer->line, word, strlen(word)) == 0;
}

/* An answer of 1xx is followed by another. */
static bool is_interim(const struct http_answer *answer)
{
    const char *space = strchr(answer->line, ' ');

    return space && space[1] == '1';
}

static uint8_t after_head(struct http_answer *answer)
{
    if (answer->left) { /* an interim one: its status was noted here */
        *answer = (struct http_answer){.state = HEAD};
        return HEAD;
    }
    if (answer->packed)
        return PACKED;
    return answer->chunked ? CHUNK_SIZE : TEXT_TO_END;
}

static void take_field(struct http_answer *answer)
{
    bool transfer = begins_with(answer, "Transfer-Encoding:");
    const char *value;

    if (!transfer && !begins_with(answer, "Content-Encoding:"))
        return;
    value = strchr(answer->line, ':') + 1;
    value += strspn(value, " \t");
    if (transfer && strcasestr(value, "chunked"))
        answer->chunked = true;
    if (strncasecmp(value, transfer ? "chunked" : "identity", transfer ? 7 : 8) != 0)
        answer->packed = true;
}

/* A whole line of a head, without its end. */
static void take_line(struct http_answer *answer)
{
    if (answer->state == HEAD) {
        answer->left = is_interim(answer);
        answer->state = begins_with(answer, "HTTP/1.") ? FIELDS : TEXT_TO_END;
    } else if (answer->used == 0) {
        answer->state = after_head(answer);
    } else {
        take_field(answer);
    }
    answer->used = 0;
    answer->line[0] = '\0';
}

/* To the end of the head, or of what there is. */
static size_t run_head(struct http_answer *answer, const char *bytes, size_t size)
{
    size_t at = 0;

    while (at < size && (answer->state == HEAD || answer->state == FIELDS)) {
        char c = bytes[at++];

        if (c == '\n') {
            take_line(answer);
        } else if (c != '\r' && c != '\0' && answer->used < sizeof(answer->line) - 1) {
            answer->line[answer->used++] = c;
            answer->line[answer->used] = '\0';
        }
    }
    return at;
}

static int digit_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c) : NULL;

    return at ? (int)(at - digits) : -1;
}

/* A chunk's first line; behind the last chunk there is none.  An extension of it could hold the
 * secret, and is nobody's text: none is taken. */
static int64_t run_size(struct http_answer *answer, const char *bytes, size_t size)
{
    size_t at = 0;

    while (at < size && bytes[at] != '\n') {
        int digit = answer->used == 0 ? digit_of(bytes[at]) : -1;

        if (digit < 0 && bytes[at] != ' ' && bytes[at] != '\t' && bytes[at] != '\r')
            return -EINVAL;
        at++;
        if (digit < 0) {
            answer->used = 1; /* no digit counts any more */
            continue;
        }
        if (answer->left >> 59)
            return -EINVAL;
        answer->left = answer->left << 4 | (uint64_t)digit;
        answer->digits = true;
    }
    if (at == size)
        return (int64_t)at;
    if (!answer->digits)
        return -EINVAL;
    answer->digits = false;
    answer->used = 0;
    answer->state = answer->left > 0 ? CHUNK_DATA : TEXT_TO_END;
    return (int64_t)at + 1;
}

static int run_end(struct http_answer *answer, char c)
{
    if (c == '\n')
        answer->state = CHUNK_SIZE;
    else if (c == '\r' && answer->state == CHUNK_END)
        answer->state = CHUNK_END_LF;
    else
        return -EINVAL;
    return 1;
}

static size_t run_data(struct http_answer *answer, size_t size)
{
    size_t part = size < answer->left ? size : (size_t)answer->left;

    answer->left -= part;
    if (answer->left == 0)
        answer->state = CHUNK_END;
    return part;
}

int64_t http_answer_run(struct http_answer *answer, const char *bytes, size_t size, bool *ret_text)
{
    *ret_text =
        answer->state != CHUNK_SIZE && answer->state != CHUNK_END && answer->state != CHUNK_END_LF;
    switch (answer->state) {
    case HEAD:
    case FIELDS:
        size = run_head(answer, bytes, size);
        return answer->state == PACKED ? -EINVAL : (int64_t)size;
    case CHUNK_SIZE:
        return run_size(answer, bytes, size);
    case CHUNK_DATA:
        return (int64_t)run_data(answer, size);
    case CHUNK_END:
    case CHUNK_END_LF:
        return run_end(answer, bytes[0]);
    default:
        return (int64_t)size;
    }
}
