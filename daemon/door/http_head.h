/* http_head.h - the head of one request to the door, parsed strictly.  Pure.
 *
 * RFC 9112, and of its choices the strict one each time: a line ends with CR LF, a name has no
 * space behind it, nothing is folded, a length is told once and in one way.  What two readers could
 * take for two different requests is no request.
 */
#pragma once

#include "hosts.h"
#include <stdint.h>

#define HTTP_HEAD_MAX 12288 /* bytes, with the empty line */
#define HTTP_HEADERS_MAX 100

/* Why a head is none: 0, or one of these. */
enum http_fault {
    HTTP_INCOMPLETE = 1, /* more bytes are wanted */
    HTTP_TOO_BIG,
    HTTP_BAD_LINE,    /* bare CR or LF, NUL or another control byte, folding */
    HTTP_BAD_REQUEST, /* the first line */
    HTTP_BAD_TARGET,  /* the host or port in it is neither a name nor an address */
    HTTP_BAD_HEADER,
    HTTP_BAD_LENGTH,  /* of the body: told twice, in two ways, or not as a number */
    HTTP_OTHER_HOST,  /* the Host field names another host than the first line */
    HTTP_NOT_PROXIED, /* origin-form: this is a proxy and no server */
    HTTP_BAD_METHOD,
};
const char *http_fault_text(enum http_fault fault);

enum http_body {
    HTTP_BODY_NONE,
    HTTP_BODY_LENGTH,
    HTTP_BODY_CHUNKED,
};

struct http_slice {
    uint32_t at, length;
};

struct http_head {
    uint32_t size; /* of the head, with the empty line */
    bool connect;
    bool version_0; /* HTTP/1.0 */
    struct http_slice method;
    struct http_slice path;     /* with the query; empty: "/" */
    struct host_pattern target; /* of CONNECT and absolute-form */
    enum http_body body;
    uint64_t body_length;
    struct http_slice host;       /* the Host field's value */
    struct http_slice connection; /* the Connection field's value, empty: none */
    uint32_t headers_at;          /* where the fields begin */
};

/* For a proxy: CONNECT or absolute-form http. */
enum http_fault http_head_parse(const char *bytes, size_t size, struct http_head *ret);
/* For a forward: origin-form.  The target is not filled. */
enum http_fault http_head_parse_origin(const char *bytes, size_t size, struct http_head *ret);

/* Writes the head as it goes on to the server: origin-form, HOST as Host, without what concerns one
 * hop alone and without any field called as one of DROP (NULL at its
 * end, or NULL; `_` counts as `-`); then ADD (whole lines, may be NULL)
 * and "Connection: close".  Returns its size; 0: it does not fit in SIZE. */
size_t http_head_rewrite(const char *bytes, const struct http_head *head, const char *host,
    const char *const *drop, const char *add, char *out, size_t size);

/* -- where a chunked body ends: RFC 9112, 7.1 -- */
struct http_chunks {
    uint64_t left; /* of this chunk */
    uint8_t state;
    uint8_t digits;
    uint16_t line; /* bytes of this line */
};

/* Runs over BYTES.  Returns how many of them belong to the body; *RET_ENDED: the last is among
 * them. -EINVAL: this is no chunked body. */
int64_t http_chunks_run(
    struct http_chunks *chunks, const char *bytes, size_t size, bool *ret_ended);
