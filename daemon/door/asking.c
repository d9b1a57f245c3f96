/* asking.c - what a program of the leg asks its door for: read, and taken apart. */
#include "passage.h"

#include "answers_out.h"
#include "socks5.h"
#include "text.h"
#include "tls_name.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define SOCKS_MAX 1024
#define FIRST_CAPACITY 1024

/* ---- reading ---- */

int passage_read(struct passage *passage, size_t max)
{
    ssize_t n;

    if (passage->have == passage->capacity) {
        size_t capacity = passage->capacity ? passage->capacity * 2UL : FIRST_CAPACITY;
        char *grown;

        if (passage->capacity >= max)
            return -E2BIG;
        grown = realloc(passage->buffer, capacity < max ? capacity : max);
        if (!grown)
            return -ENOMEM;
        passage->buffer = grown;
        passage->capacity = (uint32_t)(capacity < max ? capacity : max);
    }
    n = recv(passage->client, passage->buffer + passage->have, passage->capacity - passage->have,
        MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    if (n == 0)
        return -ENODATA;
    passage->have += (uint32_t)n;
    waiting_arrived(passage->door, (size_t)n);
    return 1;
}

/* Takes SIZE bytes off the front of what was read. */
static void drop_front(struct passage *passage, size_t size)
{
    memmove(passage->buffer, passage->buffer + size, passage->have - size);
    passage->have -= (uint32_t)size;
}

/* ---- what is asked ---- */

static void malformed(struct passage *passage, const char *why)
{
    char line[120] = "", detail[300];
    size_t size = 0;

    while (size < passage->have && size < sizeof(line) - 1 && passage->buffer[size] != '\r' &&
           passage->buffer[size] != '\n' && passage->buffer[size] != '\0')
        size++;
    if (passage->buffer)
        memcpy(line, passage->buffer, size);
    line[size] = '\0';
    (void)snprintf(detail, sizeof(detail), "%s: %s", why, passage->way == WAY_HTTP ? line : "");
    passage_refuse(passage, REASON_PROXY_REQUEST_MALFORMED, detail);
}

/* The head as it goes on takes the place of the head as it came. */
static int rewrite_head(struct passage *passage, const struct http_head *head)
{
    size_t rest = passage->have - head->size, size;
    char out[HTTP_HEAD_MAX + 512], host[HOST_TEXT_MAX];
    char *grown;

    host_pattern_format(&passage->target, host);
    if (passage->target.port == 80)
        *strrchr(host, ':') = '\0';
    size = http_head_rewrite(passage->buffer, head, host, NULL, NULL, out, sizeof(out));
    if (size == 0)
        return -E2BIG;
    grown = malloc(size + rest);
    if (!grown)
        return -ENOMEM;
    memcpy(grown, out, size);
    memcpy(grown + size, passage->buffer + head->size, rest);
    free(passage->buffer);
    passage->buffer = grown;
    passage->have = passage->capacity = (uint32_t)(size + rest);
    return (int)size;
}

int passage_keep_body(struct passage *passage, const struct http_head *head, size_t front)
{
    const char *bytes = passage->buffer + front;
    size_t size = passage->have - front;
    bool ended = head->body == HTTP_BODY_NONE;
    int64_t part = 0;

    passage->body = head->body;
    passage->body_left = head->body_length;
    if (head->body == HTTP_BODY_LENGTH) {
        part = (int64_t)(size < passage->body_left ? size : passage->body_left);
        passage->body_left -= (uint64_t)part;
        ended = passage->body_left == 0;
    } else if (head->body == HTTP_BODY_CHUNKED) {
        part = http_chunks_run(&passage->chunks, bytes, size, &ended);
    }
    if (part < 0)
        return (int)part;
    passage->have = (uint32_t)(front + (size_t)part);
    passage->up.ended = ended;
    return 0;
}

static void take_http(struct passage *passage)
{
    struct http_head head;
    enum http_fault fault = http_head_parse(passage->buffer, passage->have, &head);
    int r;

    if (fault == HTTP_INCOMPLETE)
        return;
    if (fault) {
        malformed(passage, http_fault_text(fault));
        return;
    }
    passage->target = head.target;
    passage->tunnel = head.connect;
    if (head.connect) {
        drop_front(passage, head.size);
    } else {
        r = rewrite_head(passage, &head);
        if (r >= 0)
            r = passage_keep_body(passage, &head, (size_t)r);
        if (r < 0) {
            malformed(passage, http_fault_text(r == -EINVAL ? HTTP_BAD_LENGTH : HTTP_TOO_BIG));
            return;
        }
    }
    passage_asked(passage);
}

/* Plain HTTP for a server of TLS: where it goes was fixed by the forward. */
static void take_origin(struct passage *passage)
{
    struct http_head head;
    enum http_fault fault = http_head_parse_origin(passage->buffer, passage->have, &head);

    if (fault == HTTP_INCOMPLETE)
        return;
    if (fault) {
        malformed(passage, http_fault_text(fault));
        return;
    }
    (void)event_del(&passage->client_read);
    (void)event_del(&passage->deadline);
    passage->target = passage->door->forwards[passage->forward].forward.host;
    passage_look_up(passage);
}

static void refuse_socks(struct passage *passage, enum socks5_result result)
{
    static const char *const texts[] = {"", "", "no SOCKS5 request",
        "the client offers no way without authentication", "a command other than CONNECT",
        "the host is neither a name nor an address"};

    answer_socks(
        passage, result == SOCKS5_COMMAND_REFUSED ? SOCKS5_REPLY_COMMAND : SOCKS5_REPLY_ADDRESS);
    malformed(passage, texts[result]);
}

static void take_socks(struct passage *passage)
{
    const uint8_t *bytes = (const uint8_t *)passage->buffer;
    enum socks5_result result;
    size_t size = 0;

    if (!passage->greeted) {
        result = socks5_greeting(bytes, passage->have, &size);
        if (result == SOCKS5_INCOMPLETE)
            return;
        answer_greeting(passage, result == 0);
        if (result != 0) {
            malformed(passage, "no SOCKS5 greeting without authentication");
            return;
        }
        passage->greeted = true;
        drop_front(passage, size);
    }
    result = socks5_request(bytes, passage->have, &size, &passage->target);
    if (result == SOCKS5_INCOMPLETE)
        return;
    if (result != 0) {
        refuse_socks(passage, result);
        return;
    }
    passage->tunnel = true;
    drop_front(passage, size);
    passage_asked(passage);
}

static void ask_hello(struct passage *passage)
{
    char name[HOST_NAME_LIMIT], detail[HOST_NAME_LIMIT + 64];
    enum tls_name_result result =
        tls_name_find((const uint8_t *)passage->buffer, passage->have, name);

    if (result == TLS_NAME_INCOMPLETE)
        return;
    if (result == 0 && text_equal(name, passage->target.name)) {
        relay_begin(passage);
        return;
    }
    if (result == 0)
        (void)snprintf(detail, sizeof(detail), "the TLS server name is %s", name);
    else
        (void)snprintf(detail, sizeof(detail), "%s",
            result == TLS_NAME_NONE ? "TLS without a server name" : "no TLS");
    passage_refuse(passage, REASON_TLS_NAME_MISMATCH, detail);
}

void passage_client_readable(evutil_socket_t fd, short what, void *context)
{
    struct passage *passage = context;
    size_t max =
        passage->way == WAY_SOCKS && passage->state == PASSAGE_HEAD ? SOCKS_MAX : HTTP_HEAD_MAX;
    int r = passage_read(passage, max);

    if (r == -E2BIG) {
        malformed(passage, "it is too big");
    } else if (r < 0) {
        passage_close(passage, REASON_NONE);
    } else if (passage->state == PASSAGE_HELLO) {
        if (passage->have > 0)
            ask_hello(passage);
    } else if (passage->have > 0 && passage->way == WAY_HTTP) {
        take_http(passage);
    } else if (passage->have > 0 && passage->way == WAY_FORWARD) {
        take_origin(passage);
    } else if (passage->have > 0) {
        take_socks(passage);
    }
}
