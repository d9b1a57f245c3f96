/* fuzz_door - what a leg sends to its door: the first byte chooses the parser.
 *
 * What a parser takes must be canonical, and what goes on must be read the same again.
 */
#include "http_head.h"
#include "mask.h"
#include "socks5.h"
#include "tls_name.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_target(const struct host_pattern *target)
{
    if (!host_pattern_is_canonical(target, false) || target->kind == HOST_BELOW)
        abort();
}

static void read_http(const char *bytes, size_t size, bool origin)
{
    static char out[HTTP_HEAD_MAX + 512], text[HOST_TEXT_MAX];
    static const char *const drop[] = {"X-Key", NULL};
    struct http_head head, again;
    size_t length;

    if (origin ? http_head_parse_origin(bytes, size, &head) : http_head_parse(bytes, size, &head))
        return;
    if (head.size > size)
        abort();
    if (!origin) {
        check_target(&head.target);
        host_pattern_format(&head.target, text);
    }
    length = http_head_rewrite(
        bytes, &head, origin ? "example.org" : text, drop, "X-Key: a\r\n", out, sizeof(out));
    if (head.connect || length == 0 || length > HTTP_HEAD_MAX)
        return;
    if (http_head_parse_origin(out, length, &again) != 0 || again.size != length ||
        again.body != head.body || again.body_length != head.body_length)
        abort();
}

static void read_socks(const uint8_t *bytes, size_t size)
{
    struct host_pattern target;
    size_t used = 0;

    if (socks5_greeting(bytes, size, &used) == 0 && used > size)
        abort();
    if (socks5_request(bytes, size, &used, &target) != 0)
        return;
    if (used > size)
        abort();
    check_target(&target);
}

static void read_hello(const uint8_t *bytes, size_t size)
{
    char name[HOST_NAME_LIMIT];
    struct host_pattern target;

    if (tls_name_find(bytes, size, name) == 0 &&
        (host_target_parse(name, strlen(name), 443, &target) != 0 ||
            strcmp(target.name, name) != 0))
        abort();
}

static void read_chunks(const char *bytes, size_t size)
{
    struct http_chunks whole = {0}, cut = {0};
    bool ended = false, cut_ended = false;
    int64_t n = http_chunks_run(&whole, bytes, size, &ended), m, rest = 0;

    if (n > (int64_t)size)
        abort();
    m = http_chunks_run(&cut, bytes, size / 2, &cut_ended);
    if (m >= 0 && !cut_ended)
        rest = http_chunks_run(&cut, bytes + size / 2, size - size / 2, &cut_ended);
    if (n >= 0 && (m < 0 || rest < 0 || m + rest != n || cut_ended != ended))
        abort();
}

/* What a server answers: however it is cut, it goes on with the same length, the same bytes, and
 * without the secret in one piece of text. */
static size_t mask_all(const char *bytes, size_t size, size_t piece, char *out)
{
    static char buffer[MASK_HELD_MAX + 4096];
    struct mask mask;
    size_t used = 0;
    int r = mask_init(&mask, "abcabd", 6);

    for (size_t at = 0; r == 0 && at < size; at += piece) {
        size_t part = size - at < piece ? size - at : piece, n = 0;
        char *from;

        memcpy(buffer + MASK_HELD_MAX, bytes + at, part);
        r = mask_run(&mask, buffer, part, &from, &n);
        if (r == 0)
            memcpy(out + used, from, n);
        used += r == 0 ? n : 0;
    }
    used += r == 0 ? mask_end(&mask, out + used) : 0;
    mask_done(&mask);
    return r == 0 ? used : SIZE_MAX;
}

static void read_answer(const char *bytes, size_t size)
{
    static char whole[4096], cut[4096];
    size_t n;

    if (size == 0 || size > sizeof(whole))
        return;
    n = mask_all(bytes, size, size, whole);
    if (mask_all(bytes, size, 1 + size / 3, cut) != n ||
        (n != SIZE_MAX && memcmp(whole, cut, n) != 0))
        abort();
    if (n == SIZE_MAX)
        return;
    if (n != size || (bytes[0] == 'a' && memmem(whole, n, "abcabd", 6)))
        abort();
}

static void read_pattern(const char *bytes, size_t size)
{
    char text[HOST_TEXT_MAX], again[HOST_TEXT_MAX];
    struct host_pattern pattern, other;

    if (size >= sizeof(text) || memchr(bytes, '\0', size))
        return;
    memcpy(text, bytes, size);
    text[size] = '\0';
    if (host_pattern_parse(text, true, &pattern) != 0)
        return;
    host_pattern_format(&pattern, again);
    if (!host_pattern_is_canonical(&pattern, true) ||
        host_pattern_parse(again, true, &other) != 0 || !host_pattern_equal(&pattern, &other))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint8_t *copy; /* of its own, so that a sanitizer sees its ends */

    if (size < 1)
        return 0;
    copy = malloc(size);
    if (!copy)
        abort();
    memcpy(copy, bytes + 1, size - 1);
    switch (bytes[0] % 7) {
    case 0:
        read_http((const char *)copy, size - 1, false);
        break;
    case 1:
        read_http((const char *)copy, size - 1, true);
        break;
    case 2:
        read_socks(copy, size - 1);
        break;
    case 3:
        read_hello(copy, size - 1);
        break;
    case 4:
        read_chunks((const char *)copy, size - 1);
        break;
    case 6:
        read_answer((const char *)copy, size - 1);
        break;
    default:
        read_pattern((const char *)copy, size - 1);
    }
    free(copy);
    return 0;
}
