/* tls_client.h - the door as a client of TLS: one context a forward, one connection a passage.
 *
 * The certificate and its name are always verified, against the authorities that were handed over;
 * there is no way to leave that out.  SSL_connect(3), SSL_CTX_set_verify(3).
 */
#pragma once

#include "door.h"
#include "locked.h"

#define TLS_AUTHORITIES_MAX (1024 * 1024)

struct tls_client;     /* of a forward */
struct tls_connection; /* of a passage */

/* AUTHORITIES: PEM certificates; KEY: the header's value, or -EBADF.  0 or -errno with the fault
 * filled. */
int tls_client_open(
    struct door_forward *forward, int authorities, int key, struct fault *ret_fault);
const struct locked_key *tls_client_key(const struct tls_client *client);

/* Results of the calls below besides 0 and more. */
enum {
    TLS_WANT_READ = -1, /* the socket must become readable first */
    TLS_WANT_WRITE = -2,
    TLS_ENDED = -3, /* the server said all */
    TLS_FAILED = -4,
};

int tls_begin(struct tls_client *client, int socket, struct tls_connection **ret);
void tls_free(struct tls_connection *connection);

/* 0: it stands, and the server is who it should be. */
int tls_handshake(struct tls_connection *connection);
/* After TLS_FAILED of the handshake: NULL when the certificate was good, else what is wrong. */
const char *tls_certificate_fault(const struct tls_connection *connection);
/* How many bytes were taken or given; or one of the above. */
int tls_write(struct tls_connection *connection, const char *bytes, size_t size);
int tls_read(struct tls_connection *connection, char *bytes, size_t size);
/* There are more to be read, whatever the socket says. */
bool tls_pending(const struct tls_connection *connection);
