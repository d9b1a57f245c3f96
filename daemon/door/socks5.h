/* socks5.h - RFC 1928: the two messages a client sends before its bytes go on.  Pure. */
#pragma once

#include "hosts.h"

enum socks5_result {
    SOCKS5_INCOMPLETE = 1, /* more bytes are wanted */
    SOCKS5_MALFORMED,
    SOCKS5_NO_METHOD,       /* the client offers no "no authentication" */
    SOCKS5_COMMAND_REFUSED, /* BIND, UDP ASSOCIATE, others */
    SOCKS5_BAD_ADDRESS,     /* the type is unknown, or the host is neither a name nor an address */
};

/* The reply codes of RFC 1928, 6. */
enum socks5_reply {
    SOCKS5_REPLY_GOOD = 0,
    SOCKS5_REPLY_FAILED = 1,
    SOCKS5_REPLY_NOT_ALLOWED = 2,
    SOCKS5_REPLY_HOST_UNREACHABLE = 4,
    SOCKS5_REPLY_REFUSED = 5,
    SOCKS5_REPLY_COMMAND = 7,
    SOCKS5_REPLY_ADDRESS = 8,
};

#define SOCKS5_REPLY_SIZE 10

/* 0 and how many bytes it was. */
enum socks5_result socks5_greeting(const uint8_t *bytes, size_t size, size_t *ret_size);
enum socks5_result socks5_request(
    const uint8_t *bytes, size_t size, size_t *ret_size, struct host_pattern *ret_target);
void socks5_reply(enum socks5_reply reply, uint8_t out[SOCKS5_REPLY_SIZE]);
