#include "http_head.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define METHOD_MAX 24
#define NAME_FIELD_MAX 256

const char *http_fault_text(enum http_fault fault)
{
    static const char *const texts[] = {"", "the request's head is not whole",
        "the request's head is too big", "a line that is not ended by CR LF, or a control byte",
        "the request line cannot be understood",
        "the host or port is neither a name nor an address", "a header field cannot be understood",
        "the length of the body is not told in one way",
        "the Host field names another host than the request line",
        "this is a proxy: an absolute http:// target or CONNECT is wanted",
        "this method does not go through here"};

    return (size_t)fault < sizeof(texts) / sizeof(texts[0]) ? texts[fault] : "?";
}

/* -- bytes -- */

static bool is_token_byte(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != 0 && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (!is_token_byte((unsigned char)bytes[i]))
            return false;
    }
    return size > 0;
}

static bool same_word(const char *bytes, size_t size, const char *word)
{
    return size == strlen(word) && strncasecmp(bytes, word, size) == 0;
}

/* One pass over all that is there: ends at the empty line.  Every other byte is printable, a tab,
 * or above 0x7f; CR and LF stand as pairs alone. */
static enum http_fault find_end(const char *bytes, size_t size, uint32_t *ret_size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];

        if (i >= HTTP_HEAD_MAX)
            return HTTP_TOO_BIG;
        if (c == '\r') {
            if (i + 1 == size)
                break;
            if (bytes[i + 1] != '\n')
                return HTTP_BAD_LINE;
            if (i == 0)
                return HTTP_BAD_REQUEST;
            if (i >= 2 && bytes[i - 1] == '\n') {
                *ret_size = (uint32_t)i + 2;
                return 0;
            }
            i++;
            continue;
        }
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return HTTP_BAD_LINE;
    }
    return size >= HTTP_HEAD_MAX ? HTTP_TOO_BIG : HTTP_INCOMPLETE;
}

/* -- the first line -- */

static bool is_path_byte(unsigned char c)
{
    return c > 0x20 && c < 0x7f;
}

static enum http_fault parse_version(const char *bytes, size_t size, struct http_head *head)
{
    if (size != 8 || memcmp(bytes, "HTTP/1.", 7) != 0 || (bytes[7] != '0' && bytes[7] != '1'))
        return HTTP_BAD_REQUEST;
    head->version_0 = bytes[7] == '0';
    return 0;
}

/* "host", "host:port", "[v6]:port": where the host ends, *RET_PORT 0 when none is told. */
static enum http_fault parse_authority(
    const char *bytes, size_t size, uint16_t standard, struct host_pattern *ret)
{
    const char *at = memchr(bytes, '@', size), *colon;
    size_t host = size;
    uint16_t port = standard;

    if (at || size == 0)
        return HTTP_BAD_TARGET;
    colon = memrchr(bytes, ':', size);
    if (colon && (bytes[0] != '[' || colon[-1] == ']')) {
        host = (size_t)(colon - bytes);
        if (host_port_parse(colon + 1, size - host - 1, &port) < 0)
            return HTTP_BAD_TARGET;
    }
    if (port == 0 || (bytes[0] != '[' && memchr(bytes, ':', host)))
        return HTTP_BAD_TARGET;
    return host_target_parse(bytes, host, port, ret) < 0 ? HTTP_BAD_TARGET : 0;
}

static enum http_fault parse_absolute(
    const char *bytes, struct http_slice target, struct http_head *head)
{
    static const char scheme[] = "http://";
    const char *from = bytes + target.at;
    size_t size = target.length, authority;

    if (from[0] == '/' || same_word(from, size, "*"))
        return HTTP_NOT_PROXIED;
    if (size <= sizeof(scheme) - 1 || strncasecmp(from, scheme, sizeof(scheme) - 1) != 0)
        return HTTP_BAD_TARGET;
    from += sizeof(scheme) - 1;
    size -= sizeof(scheme) - 1;
    for (authority = 0; authority < size; authority++) {
        if (strchr("/?#", from[authority]))
            break;
    }
    if (memchr(from, '#', size))
        return HTTP_BAD_TARGET;
    head->path = (struct http_slice){
        target.at + (uint32_t)(sizeof(scheme) - 1 + authority), (uint32_t)(size - authority)};
    return parse_authority(from, authority, 80, &head->target);
}

static enum http_fault parse_request_line(
    const char *bytes, size_t size, bool origin, struct http_head *head)
{
    const char *first = memchr(bytes, ' ', size), *second;
    struct http_slice target;
    enum http_fault fault;

    if (!first)
        return HTTP_BAD_REQUEST;
    second = memchr(first + 1, ' ', size - (size_t)(first + 1 - bytes));
    if (!second)
        return HTTP_BAD_REQUEST;
    head->method = (struct http_slice){0, (uint32_t)(first - bytes)};
    target = (struct http_slice){head->method.length + 1, (uint32_t)(second - first - 1)};
    fault = parse_version(second + 1, size - (size_t)(second + 1 - bytes), head);
    if (fault)
        return fault;
    if (!is_token(bytes, head->method.length) || head->method.length > METHOD_MAX ||
        target.length == 0)
        return HTTP_BAD_REQUEST;
    for (uint32_t i = 0; i < target.length; i++) {
        if (!is_path_byte((unsigned char)bytes[target.at + i]))
            return HTTP_BAD_REQUEST;
    }
    head->connect = same_word(bytes, head->method.length, "CONNECT");
    if (same_word(bytes, head->method.length, "TRACE") || (origin && head->connect))
        return HTTP_BAD_METHOD;
    if (origin) {
        head->path = target;
        return bytes[target.at] == '/' && !memchr(bytes + target.at, '#', target.length)
                   ? 0
                   : HTTP_BAD_TARGET;
    }
    if (head->connect)
        return parse_authority(bytes + target.at, target.length, 0, &head->target);
    return parse_absolute(bytes, target, head);
}

/* -- the fields -- */

struct field {
    struct http_slice name, value;
};

/* The field at *AT, which is moved to the next; false at the empty line. */
static bool next_line(const char *bytes, uint32_t *at, struct http_slice *ret)
{
    const char *end = memchr(bytes + *at, '\r', HTTP_HEAD_MAX);

    *ret = (struct http_slice){*at, (uint32_t)(end - (bytes + *at))};
    *at += ret->length + 2;
    return ret->length > 0;
}

static bool split_field(const char *bytes, struct http_slice line, struct field *ret)
{
    const char *from = bytes + line.at, *colon = memchr(from, ':', line.length);
    uint32_t name, at, end = line.length;

    if (!colon)
        return false;
    name = (uint32_t)(colon - from);
    if (name > NAME_FIELD_MAX || !is_token(from, name))
        return false;
    at = name + 1;
    while (at < end && (from[at] == ' ' || from[at] == '\t'))
        at++;
    while (end > at && (from[end - 1] == ' ' || from[end - 1] == '\t'))
        end--;
    ret->name = (struct http_slice){line.at, name};
    ret->value = (struct http_slice){line.at + at, end - at};
    return true;
}

static bool named(const char *bytes, const struct field *field, const char *name)
{
    return same_word(bytes + field->name.at, field->name.length, name);
}

static enum http_fault take_length(const char *bytes, struct http_slice value, uint64_t *ret)
{
    uint64_t length = 0;

    if (value.length == 0 || value.length > 18)
        return HTTP_BAD_LENGTH;
    for (uint32_t i = 0; i < value.length; i++) {
        char c = bytes[value.at + i];

        if (c < '0' || c > '9')
            return HTTP_BAD_LENGTH;
        length = length * 10 + (uint64_t)(c - '0');
    }
    *ret = length;
    return 0;
}

static enum http_fault take_field(const char *bytes, const struct field *field,
    struct http_head *head, bool *length_told, bool *coding_told, bool *host_told)
{
    if (named(bytes, field, "Content-Length")) {
        if (*length_told || *coding_told)
            return HTTP_BAD_LENGTH;
        *length_told = true;
        head->body = HTTP_BODY_LENGTH;
        return take_length(bytes, field->value, &head->body_length);
    }
    if (named(bytes, field, "Transfer-Encoding")) {
        if (*length_told || *coding_told || head->version_0 ||
            !same_word(bytes + field->value.at, field->value.length, "chunked"))
            return HTTP_BAD_LENGTH;
        *coding_told = true;
        head->body = HTTP_BODY_CHUNKED;
    } else if (named(bytes, field, "Host")) {
        if (*host_told)
            return HTTP_BAD_HEADER;
        *host_told = true;
        head->host = field->value;
    } else if (named(bytes, field, "Connection")) {
        if (head->connection.length > 0)
            return HTTP_BAD_HEADER;
        head->connection = field->value;
    }
    return 0;
}

static enum http_fault parse_fields(const char *bytes, struct http_head *head)
{
    bool length_told = false, coding_told = false, host_told = false;
    uint32_t at = head->headers_at, count = 0;
    struct http_slice line;

    while (next_line(bytes, &at, &line)) {
        enum http_fault fault;
        struct field field;

        if (++count > HTTP_HEADERS_MAX)
            return HTTP_TOO_BIG;
        if (!split_field(bytes, line, &field))
            return HTTP_BAD_HEADER;
        fault = take_field(bytes, &field, head, &length_told, &coding_told, &host_told);
        if (fault)
            return fault;
    }
    return 0;
}

/* The Host field, if there is one, must say what the first line says. */
static enum http_fault check_host(const char *bytes, const struct http_head *head)
{
    struct host_pattern told;
    enum http_fault fault;

    if (head->host.length == 0)
        return 0;
    fault = parse_authority(bytes + head->host.at, head->host.length, head->target.port, &told);
    if (fault)
        return fault;
    return host_pattern_equal(&told, &head->target) ? 0 : HTTP_OTHER_HOST;
}

static enum http_fault parse(const char *bytes, size_t size, bool origin, struct http_head *ret)
{
    struct http_head head = {0};
    enum http_fault fault = find_end(bytes, size, &head.size);
    const char *end;

    if (fault)
        return fault;
    end = memchr(bytes, '\r', head.size);
    fault = parse_request_line(bytes, (size_t)(end - bytes), origin, &head);
    if (fault)
        return fault;
    head.headers_at = (uint32_t)(end - bytes) + 2;
    fault = parse_fields(bytes, &head);
    if (!fault && !origin)
        fault = check_host(bytes, &head);
    if (!fault && head.connect && head.body != HTTP_BODY_NONE)
        fault = HTTP_BAD_LENGTH;
    if (!fault)
        *ret = head;
    return fault;
}

enum http_fault http_head_parse(const char *bytes, size_t size, struct http_head *ret)
{
    return parse(bytes, size, false, ret);
}

enum http_fault http_head_parse_origin(const char *bytes, size_t size, struct http_head *ret)
{
    return parse(bytes, size, true, ret);
}

/* -- the head that goes on -- */

struct output {
    char *out;
    size_t size, used;
    bool full;
};

static void put(struct output *output, const char *bytes, size_t size)
{
    if (output->full || size > output->size - output->used) {
        output->full = true;
        return;
    }
    memcpy(output->out + output->used, bytes, size);
    output->used += size;
}

static void put_text(struct output *output, const char *text)
{
    put(output, text, strlen(text));
}

/* Is the field called so one of the words of the Connection field? */
static bool is_connection_word(
    const char *bytes, const struct http_head *head, const struct field *field)
{
    const char *at = bytes + head->connection.at, *end = at + head->connection.length;

    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *word = at;
        const char *stop = comma ? comma : end;

        at = comma ? comma + 1 : end;
        while (word < stop && (*word == ' ' || *word == '\t'))
            word++;
        while (stop > word && (stop[-1] == ' ' || stop[-1] == '\t'))
            stop--;
        if ((size_t)(stop - word) == field->name.length &&
            strncasecmp(word, bytes + field->name.at, field->name.length) == 0)
            return true;
    }
    return false;
}

/* Some servers read X_Key as X-Key: both are taken away. */
static bool dropped(const char *bytes, const struct field *field, const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < length && length == field->name.length; i++) {
        char a = bytes[field->name.at + i], b = name[i];

        if (strncasecmp(a == '_' ? "-" : &a, b == '_' ? "-" : &b, 1) != 0)
            return false;
    }
    return length == field->name.length;
}

static bool goes_on(const char *bytes, const struct http_head *head, const struct field *field,
    const char *const *drop)
{
    static const char *const of_one_hop[] = {"Host", "Connection", "Proxy-Connection", "Keep-Alive",
        "Proxy-Authorization", "Proxy-Authenticate", "TE", "Upgrade", "Via", "Forwarded"};

    for (size_t i = 0; i < sizeof(of_one_hop) / sizeof(of_one_hop[0]); i++) {
        if (named(bytes, field, of_one_hop[i]))
            return false;
    }
    for (; drop && *drop; drop++) {
        if (dropped(bytes, field, *drop))
            return false;
    }
    /* What tells where the body ends is the request's own, whatever Connection says of it. */
    if (named(bytes, field, "Content-Length") || named(bytes, field, "Transfer-Encoding"))
        return true;
    return !is_connection_word(bytes, head, field);
}

size_t http_head_rewrite(const char *bytes, const struct http_head *head, const char *host,
    const char *const *drop, const char *add, char *out, size_t size)
{
    struct output output = {.out = out, .size = size};
    uint32_t at = head->headers_at;
    struct http_slice line;

    put(&output, bytes, head->method.length);
    put_text(&output, " ");
    if (head->path.length == 0 || bytes[head->path.at] != '/')
        put_text(&output, "/");
    put(&output, bytes + head->path.at, head->path.length);
    put_text(&output, head->version_0 ? " HTTP/1.0\r\nHost: " : " HTTP/1.1\r\nHost: ");
    put_text(&output, host);
    put_text(&output, "\r\n");
    while (next_line(bytes, &at, &line)) {
        struct field field;

        if (!split_field(bytes, line, &field) || !goes_on(bytes, head, &field, drop))
            continue;
        put(&output, bytes + line.at, line.length);
        put_text(&output, "\r\n");
    }
    if (add)
        put_text(&output, add);
    put_text(&output, "Connection: close\r\n\r\n");
    return output.full ? 0 : output.used;
}

/* -- chunks -- */

enum chunk_state {
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_SIZE_LF,
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    CHUNK_TRAILER,
    CHUNK_TRAILER_LF,
    CHUNK_ENDED,
};

#define CHUNK_LINE_MAX 512

static int digit_of(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int take_size(struct http_chunks *chunks, unsigned char c)
{
    int digit = digit_of(c);

    if (digit >= 0) {
        if (++chunks->digits > 15)
            return -EINVAL;
        chunks->left = chunks->left * 16 + (uint64_t)digit;
        return 0;
    }
    if (chunks->digits == 0 || (c != ';' && c != '\r'))
        return -EINVAL;
    chunks->state = c == ';' ? CHUNK_EXTENSION : CHUNK_SIZE_LF;
    return 0;
}

static int take_line_byte(struct http_chunks *chunks, unsigned char c, uint8_t after)
{
    if (c == '\r') {
        chunks->state = after;
        return 0;
    }
    return (c < 0x20 && c != '\t') || c == 0x7f || ++chunks->line > CHUNK_LINE_MAX ? -EINVAL : 0;
}

static int take_line_feed(struct http_chunks *chunks, unsigned char c)
{
    if (c != '\n')
        return -EINVAL;
    if (chunks->state == CHUNK_TRAILER_LF) {
        /* Trailer fields are not wanted: the last chunk is followed by the empty line. */
        chunks->state = chunks->line == 0 ? CHUNK_ENDED : CHUNK_TRAILER;
        if (chunks->line > 0)
            return -EINVAL;
        return 0;
    }
    if (chunks->state == CHUNK_SIZE_LF)
        chunks->state = chunks->left > 0 ? CHUNK_DATA : CHUNK_TRAILER;
    else
        chunks->state = CHUNK_SIZE;
    chunks->digits = 0;
    chunks->line = 0;
    return 0;
}

static int take_byte(struct http_chunks *chunks, unsigned char c)
{
    switch (chunks->state) {
    case CHUNK_SIZE:
        return take_size(chunks, c);
    case CHUNK_EXTENSION:
        return take_line_byte(chunks, c, CHUNK_SIZE_LF);
    case CHUNK_TRAILER:
        return take_line_byte(chunks, c, CHUNK_TRAILER_LF);
    case CHUNK_DATA_CR:
        chunks->state = CHUNK_DATA_LF;
        return c == '\r' ? 0 : -EINVAL;
    default:
        return take_line_feed(chunks, c);
    }
}

int64_t http_chunks_run(struct http_chunks *chunks, const char *bytes, size_t size, bool *ret_ended)
{
    size_t at = 0;

    while (at < size && chunks->state != CHUNK_ENDED) {
        if (chunks->state == CHUNK_DATA) {
            uint64_t part = size - at < chunks->left ? size - at : chunks->left;

            at += (size_t)part;
            chunks->left -= part;
            if (chunks->left == 0)
                chunks->state = CHUNK_DATA_CR;
            continue;
        }
        if (take_byte(chunks, (unsigned char)bytes[at]) < 0)
            return -EINVAL;
        at++;
    }
    *ret_ended = chunks->state == CHUNK_ENDED;
    return (int64_t)at;
}
