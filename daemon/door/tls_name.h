/* tls_name.h - the server name in the first bytes of a TLS connection, without opening it.  Pure.
 *
 * RFC 8446, 4.1.2 (ClientHello) and RFC 6066, 3 (server_name).  The hello may be spread over
 * several records.  With Encrypted ClientHello the name that is found is the outer one.
 */
#pragma once

#include "hosts.h"

#define TLS_HELLO_MAX 12288

enum tls_name_result {
    TLS_NAME_INCOMPLETE = 1, /* more bytes are wanted */
    TLS_NAME_NONE,           /* a ClientHello that names no server */
    TLS_NAME_NOT_TLS,        /* no ClientHello, or one that is broken */
};

/* 0: *RET_NAME is the name, in small letters. */
enum tls_name_result tls_name_find(
    const uint8_t *bytes, size_t size, char ret_name[HOST_NAME_LIMIT]);
