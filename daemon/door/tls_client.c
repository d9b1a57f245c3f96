#include "tls_client.h"

#include "fault.h"
#include "steps.h"
#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <sys/stat.h>

struct tls_client {
    SSL_CTX *context;
    const struct host_pattern *host;
    struct locked_key key;
    SSL_SESSION *last; /* a server that was verified before is greeted in one turn less */
};

struct tls_connection {
    SSL *ssl;
};

const struct locked_key *tls_client_key(const struct tls_client *client)
{
    return client->key.value ? &client->key : NULL;
}

/* ---- the context ---- */

/* Every certificate in the file; a file without any is no set of authorities. */
static int add_authorities(SSL_CTX *context, const char *text, size_t size)
{
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    BIO *bio = BIO_new_mem_buf(text, (int)size);
    int count = 0;
    X509 *one;

    if (!bio)
        return -ENOMEM;
    while ((one = PEM_read_bio_X509(bio, NULL, NULL, NULL))) {
        count += X509_STORE_add_cert(store, one);
        X509_free(one);
    }
    ERR_clear_error();
    BIO_free(bio);
    return count > 0 ? 0 : -EINVAL;
}

static int read_authorities(SSL_CTX *context, int file)
{
    auto_free char *text = NULL;
    struct stat st;
    size_t have = 0;
    ssize_t n;

    if (fstat(file, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || st.st_size <= 0)
        return -EINVAL;
    if (st.st_size > TLS_AUTHORITIES_MAX)
        return -EFBIG;
    text = malloc((size_t)st.st_size);
    if (!text)
        return -ENOMEM;
    while (have < (size_t)st.st_size &&
           (n = pread(file, text + have, (size_t)st.st_size - have, (off_t)have)) > 0)
        have += (size_t)n;
    return add_authorities(context, text, have);
}

static int keep_session(SSL *ssl, SSL_SESSION *session)
{
    struct tls_client *client = SSL_get_app_data(ssl);

    SSL_SESSION_free(client->last);
    client->last = session;
    return 1; /* it is ours now */
}

static int set_up(SSL_CTX *context)
{
    static const unsigned char protocols[] = "\x08http/1.1";

    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    (void)SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS);
    (void)SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    (void)SSL_CTX_set_session_cache_mode(
        context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, keep_session);
    if (!SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) ||
        SSL_CTX_set_alpn_protos(context, protocols, sizeof(protocols) - 1) != 0)
        return -EINVAL;
    return 0;
}

int tls_client_open(struct door_forward *forward, int authorities, int key, struct fault *ret_fault)
{
    struct tls_client *client = calloc(1, sizeof(*client));
    int r;

    if (!client)
        return fault_set(ret_fault, STEP_DOOR, ENOMEM, "TLS");
    forward->tls = client;
    client->host = &forward->forward.host;
    /* No file is read: not the library's configuration, no module. */
    (void)OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
    client->context = SSL_CTX_new(TLS_client_method());
    r = client->context ? set_up(client->context) : -ENOMEM;
    if (r < 0)
        return fault_set(ret_fault, STEP_DOOR, -r, "TLS");
    r = authorities < 0 ? -ENOENT : read_authorities(client->context, authorities);
    if (r < 0)
        return fault_set(
            ret_fault, STEP_DOOR, -r, "the authorities of port %u", forward->forward.port);
    r = forward->forward.header ? locked_read(key, &client->key) : 0;
    return r < 0 ? fault_set(ret_fault, STEP_DOOR, -r, "the key of port %u", forward->forward.port)
                 : 0;
}

/* ---- a connection ---- */

static bool set_name(SSL *ssl, const struct host_pattern *host)
{
    char address[ADDRESS_TEXT_MAX];

    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (host->kind == HOST_EXACT)
        return SSL_set_tlsext_host_name(ssl, host->name) && SSL_set1_host(ssl, host->name);
    address_format(&host->address, address);
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), address);
}

int tls_begin(struct tls_client *client, int socket, struct tls_connection **ret)
{
    struct tls_connection *connection = calloc(1, sizeof(*connection));

    if (!connection)
        return -ENOMEM;
    connection->ssl = SSL_new(client->context);
    if (!connection->ssl || !SSL_set_fd(connection->ssl, socket) ||
        !set_name(connection->ssl, client->host)) {
        tls_free(connection);
        return -ENOMEM;
    }
    SSL_set_app_data(connection->ssl, client);
    if (client->last)
        (void)SSL_set_session(connection->ssl, client->last);
    SSL_set_connect_state(connection->ssl);
    *ret = connection;
    return 0;
}

void tls_free(struct tls_connection *connection)
{
    if (!connection)
        return;
    if (connection->ssl && SSL_is_init_finished(connection->ssl))
        (void)SSL_shutdown(connection->ssl);
    SSL_free(connection->ssl);
    ERR_clear_error();
    free(connection);
}

static int result_of(struct tls_connection *connection, int result)
{
    int error = SSL_get_error(connection->ssl, result);

    ERR_clear_error();
    switch (error) {
    case SSL_ERROR_WANT_READ:
        return TLS_WANT_READ;
    case SSL_ERROR_WANT_WRITE:
        return TLS_WANT_WRITE;
    case SSL_ERROR_ZERO_RETURN:
        return TLS_ENDED;
    default:
        return TLS_FAILED;
    }
}

int tls_handshake(struct tls_connection *connection)
{
    int r = SSL_do_handshake(connection->ssl);

    if (r != 1)
        return result_of(connection, r);
    return SSL_get_verify_result(connection->ssl) == X509_V_OK ? 0 : TLS_FAILED;
}

const char *tls_certificate_fault(const struct tls_connection *connection)
{
    long result = SSL_get_verify_result(connection->ssl);

    return result == X509_V_OK ? NULL : X509_verify_cert_error_string(result);
}

int tls_write(struct tls_connection *connection, const char *bytes, size_t size)
{
    int r = SSL_write(connection->ssl, bytes, size > INT_MAX ? INT_MAX : (int)size);

    return r > 0 ? r : result_of(connection, r);
}

int tls_read(struct tls_connection *connection, char *bytes, size_t size)
{
    int r = SSL_read(connection->ssl, bytes, size > INT_MAX ? INT_MAX : (int)size);

    return r > 0 ? r : result_of(connection, r);
}

bool tls_pending(const struct tls_connection *connection)
{
    return SSL_pending(connection->ssl) > 0;
}
