#include "socks5.h"

#include <string.h>

#define VERSION 5
#define METHOD_NONE 0
#define COMMAND_CONNECT 1

enum address_type { TYPE_IPV4 = 1, TYPE_NAME = 3, TYPE_IPV6 = 4 };

enum socks5_result socks5_greeting(const uint8_t *bytes, size_t size, size_t *ret_size)
{
    if (size > 0 && bytes[0] != VERSION)
        return SOCKS5_MALFORMED;
    if (size < 2 || size < 2U + bytes[1])
        return SOCKS5_INCOMPLETE;
    *ret_size = 2U + bytes[1];
    return memchr(bytes + 2, METHOD_NONE, bytes[1]) ? 0 : SOCKS5_NO_METHOD;
}

/* Four or sixteen bytes become what the same address as text would be. */
static int take_address(
    const uint8_t *bytes, uint8_t family, uint16_t port, struct host_pattern *ret)
{
    struct host_address address = {.family = family};
    char text[ADDRESS_TEXT_MAX];

    memcpy(address.bytes, bytes, family == 4 ? 4 : 16);
    address_format(&address, text);
    return host_target_parse(text, strlen(text), port, ret);
}

enum socks5_result socks5_request(
    const uint8_t *bytes, size_t size, size_t *ret_size, struct host_pattern *ret_target)
{
    size_t host, at = 4;
    uint16_t port;
    int r;

    if ((size > 0 && bytes[0] != VERSION) || (size > 2 && bytes[2] != 0))
        return SOCKS5_MALFORMED;
    if (size < 5)
        return SOCKS5_INCOMPLETE;
    switch (bytes[3]) {
    case TYPE_IPV4:
        host = 4;
        break;
    case TYPE_IPV6:
        host = 16;
        break;
    case TYPE_NAME:
        host = bytes[4];
        at = 5;
        break;
    default:
        return SOCKS5_BAD_ADDRESS;
    }
    if (size < at + host + 2)
        return SOCKS5_INCOMPLETE;
    if (bytes[1] != COMMAND_CONNECT)
        return SOCKS5_COMMAND_REFUSED;
    port = (uint16_t)(bytes[at + host] << 8 | bytes[at + host + 1]);
    if (bytes[3] == TYPE_NAME)
        r = host_target_parse((const char *)bytes + at, host, port, ret_target);
    else
        r = take_address(bytes + at, bytes[3] == TYPE_IPV4 ? 4 : 6, port, ret_target);
    if (r < 0)
        return SOCKS5_BAD_ADDRESS;
    *ret_size = at + host + 2;
    return 0;
}

void socks5_reply(enum socks5_reply reply, uint8_t out[SOCKS5_REPLY_SIZE])
{
    memset(out, 0, SOCKS5_REPLY_SIZE);
    out[0] = VERSION;
    out[1] = (uint8_t)reply;
    out[3] = TYPE_IPV4;
}
