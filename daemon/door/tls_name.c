#include "tls_name.h"

#include <string.h>

#define RECORD_HANDSHAKE 22
#define RECORD_MAX 16384
#define CLIENT_HELLO 1
#define EXTENSION_SERVER_NAME 0
#define NAME_TYPE_HOST 0

/* Reads forward within one region; anything beyond its end breaks it for good. */
struct reader {
    const uint8_t *at, *end;
    bool broken;
};

static const uint8_t *take(struct reader *reader, size_t size)
{
    const uint8_t *at = reader->at;

    if (reader->broken || size > (size_t)(reader->end - reader->at)) {
        reader->broken = true;
        return NULL;
    }
    reader->at += size;
    return at;
}

static size_t number(struct reader *reader, size_t bytes)
{
    const uint8_t *at = take(reader, bytes);
    size_t value = 0;

    for (size_t i = 0; at && i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

/* A part with its length before it, as a region of its own. */
static struct reader part(struct reader *reader, size_t length_bytes)
{
    size_t size = number(reader, length_bytes);
    const uint8_t *at = take(reader, size);

    return (struct reader){.at = at, .end = at ? at + size : NULL, .broken = !at};
}

/* The handshake message, out of as many records as it takes. */
static enum tls_name_result gather(
    const uint8_t *bytes, size_t size, uint8_t *out, size_t *ret_size)
{
    size_t used = 0, at = 0, wanted = 4;

    while (used < wanted) {
        size_t length, have;

        if (size - at < 5)
            return size - at > 0 && bytes[at] != RECORD_HANDSHAKE ? TLS_NAME_NOT_TLS
                                                                  : TLS_NAME_INCOMPLETE;
        length = (size_t)bytes[at + 3] << 8 | bytes[at + 4];
        if (bytes[at] != RECORD_HANDSHAKE || bytes[at + 1] != 3 || length == 0 ||
            length > RECORD_MAX)
            return TLS_NAME_NOT_TLS;
        at += 5;
        have = size - at < length ? size - at : length;
        if (used + have > TLS_HELLO_MAX)
            return TLS_NAME_NOT_TLS;
        memcpy(out + used, bytes + at, have);
        used += have;
        at += have;
        if (used >= 4) {
            wanted = 4 + ((size_t)out[1] << 16 | (size_t)out[2] << 8 | out[3]);
            if (out[0] != CLIENT_HELLO || wanted > TLS_HELLO_MAX)
                return TLS_NAME_NOT_TLS;
        }
        if (have < length && used < wanted)
            return TLS_NAME_INCOMPLETE;
    }
    *ret_size = wanted;
    return 0;
}

/* The list of RFC 6066: one name of the host type. */
static enum tls_name_result read_names(struct reader extension, char ret_name[HOST_NAME_LIMIT])
{
    struct reader list = part(&extension, 2);
    size_t type = number(&list, 1);
    struct reader name = part(&list, 2);
    struct host_pattern parsed;

    if (list.broken || name.broken || list.at != list.end || extension.at != extension.end ||
        type != NAME_TYPE_HOST ||
        host_target_parse((const char *)name.at, (size_t)(name.end - name.at), 1, &parsed) < 0 ||
        parsed.kind != HOST_EXACT)
        return TLS_NAME_NOT_TLS;
    memcpy(ret_name, parsed.name, sizeof(parsed.name));
    return 0;
}

static enum tls_name_result read_hello(struct reader hello, char ret_name[HOST_NAME_LIMIT])
{
    enum tls_name_result result = TLS_NAME_NONE;
    struct reader extensions;

    (void)take(&hello, 4 + 2 + 32); /* the message's own head, version, random */
    (void)part(&hello, 1);          /* passage id */
    (void)part(&hello, 2);          /* cipher suites */
    (void)part(&hello, 1);          /* compression */
    if (hello.broken)
        return TLS_NAME_NOT_TLS;
    if (hello.at == hello.end)
        return TLS_NAME_NONE;
    extensions = part(&hello, 2);
    if (hello.broken || hello.at != hello.end)
        return TLS_NAME_NOT_TLS;
    while (extensions.at < extensions.end) {
        size_t type = number(&extensions, 2);
        struct reader extension = part(&extensions, 2);

        if (extensions.broken || extension.broken)
            return TLS_NAME_NOT_TLS;
        if (type != EXTENSION_SERVER_NAME)
            continue;
        if (result != TLS_NAME_NONE) /* told twice: the server may take the other */
            return TLS_NAME_NOT_TLS;
        result = read_names(extension, ret_name);
        if (result != 0)
            return result;
    }
    return result;
}

enum tls_name_result tls_name_find(
    const uint8_t *bytes, size_t size, char ret_name[HOST_NAME_LIMIT])
{
    uint8_t message[TLS_HELLO_MAX];
    size_t length = 0;
    enum tls_name_result result = gather(bytes, size, message, &length);

    if (result != 0)
        return result;
    return read_hello((struct reader){.at = message, .end = message + length}, ret_name);
}
