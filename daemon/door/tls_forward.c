#include "tls_forward.h"

#include "clock.h"
#include "decisions.h"
#include "mask.h"
#include "tls_client.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define HANDSHAKE_S 15
#define LOOK_AGAIN_S 60
#define IDLE_MS (3600LL * 1000)
#define ROUNDS 16
#define RECORD_MAX 16384

struct tls_relay {
    struct tls_connection *connection;
    struct mask mask;
    char *rest; /* of an answer: what the leg did not take yet */
    size_t rest_at, rest_size;
    bool server_ended;
    bool write_wants_read; /* a key update of the server's stands in the way */
    size_t told_masked;
};

bool tls_forward_is(const struct passage *passage)
{
    return passage->way == WAY_FORWARD &&
           passage->door->forwards[passage->forward].forward.kind == FORWARD_TLS;
}

void tls_forward_done(struct passage *passage)
{
    struct tls_relay *relay = passage->tls;

    if (!relay)
        return;
    tls_free(relay->connection);
    mask_done(&relay->mask);
    free(relay->rest);
    free(relay);
    passage->tls = NULL;
}

static const struct door_forward *forward_of(const struct passage *passage)
{
    return &passage->door->forwards[passage->forward];
}

/* ---- the answer, into the leg ---- */

enum { GO_ON, WAIT_READ, WAIT_CLIENT, OVER, BROKEN };

static void tell_masked(struct passage *passage)
{
    struct tls_relay *relay = passage->tls;
    char subject[HOST_TEXT_MAX];

    if (relay->mask.masked == relay->told_masked)
        return;
    relay->told_masked = relay->mask.masked;
    host_pattern_format(&passage->target, subject);
    decisions_refused(passage->door, subject, REASON_KEY_MASKED, "in its answer");
}

static void tell_packed(struct passage *passage)
{
    char subject[HOST_TEXT_MAX];

    host_pattern_format(&passage->target, subject);
    decisions_refused(passage->door, subject, REASON_ANSWER_PACKED, "a coding of its body");
}

static int send_rest(struct passage *passage)
{
    struct tls_relay *relay = passage->tls;

    while (relay->rest_at < relay->rest_size) {
        ssize_t n = send(passage->client, relay->rest + relay->rest_at,
            relay->rest_size - relay->rest_at, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? WAIT_CLIENT : BROKEN;
        relay->rest_at += (size_t)n;
        passage->down.bytes += (uint64_t)n;
    }
    free(relay->rest);
    relay->rest = NULL;
    relay->rest_at = relay->rest_size = 0;
    return GO_ON;
}

/* What does not go at once is kept: at most one record. */
static int give(struct passage *passage, const char *bytes, size_t size)
{
    struct tls_relay *relay = passage->tls;
    ssize_t n = send(passage->client, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return BROKEN;
    if (n < 0)
        n = 0;
    passage->down.bytes += (uint64_t)n;
    if ((size_t)n == size)
        return GO_ON;
    relay->rest = malloc(size - (size_t)n);
    if (!relay->rest)
        return BROKEN;
    memcpy(relay->rest, bytes + n, size - (size_t)n);
    relay->rest_size = size - (size_t)n;
    return WAIT_CLIENT;
}

static int take_answer(struct passage *passage)
{
    struct tls_relay *relay = passage->tls;
    char *scratch = passage->door->scratch, *text;
    size_t size;
    int n;

    if (relay->server_ended)
        return OVER;
    n = tls_read(relay->connection, scratch + MASK_HELD_MAX, RECORD_MAX);
    if (n == TLS_WANT_READ || n == TLS_WANT_WRITE)
        return WAIT_READ;
    if (n == TLS_ENDED) {
        relay->server_ended = true;
        size = mask_end(&relay->mask, scratch);
        return size > 0 ? give(passage, scratch, size) : OVER;
    }
    if (n < 0)
        return BROKEN;
    passage->active_ms = clock_wall_ms();
    if (mask_run(&relay->mask, scratch, (size_t)n, &text, &size) < 0) {
        tell_packed(passage);
        return BROKEN;
    }
    tell_masked(passage);
    return size > 0 ? give(passage, text, size) : GO_ON;
}

/* False: the passage is gone. */
static bool answer(struct passage *passage)
{
    struct tls_relay *relay = passage->tls;
    int r = relay->rest ? send_rest(passage) : GO_ON;

    for (size_t i = 0; i < ROUNDS && r == GO_ON; i++)
        r = take_answer(passage);
    switch (r) {
    case WAIT_READ:
        (void)event_add(&passage->server_read, NULL);
        return true;
    case WAIT_CLIENT:
        (void)event_del(&passage->server_read);
        (void)event_add(&passage->client_write, NULL);
        return true;
    case GO_ON: /* others have their turn; what TLS holds already wakes nobody */
        (void)event_add(&passage->server_read, NULL);
        event_active(&passage->server_read, EV_READ, 0);
        return true;
    case OVER:
        passage_finish(passage);
        return false;
    default:
        passage_cut(passage, REASON_NONE);
        return false;
    }
}

/* ---- the request, out of the leg ---- */

/* 0: all that was read already went; else TLS_*. */
static int send_first(struct passage *passage)
{
    struct tls_relay *relay = passage->tls;

    while (passage->gone < passage->have) {
        int n = tls_write(
            relay->connection, passage->buffer + passage->gone, passage->have - passage->gone);

        if (n < 0)
            return n;
        passage->gone += (uint32_t)n;
        passage->up.bytes += (uint64_t)n;
    }
    free(passage->buffer);
    passage->buffer = NULL;
    passage->have = passage->gone = passage->capacity = 0;
    return 0;
}

/* One look, one record.  1: more may follow; 0: nothing waits, or the body is whole; TLS_*. */
static int send_some(struct passage *passage)
{
    struct tls_relay *relay = passage->tls;
    char *scratch = passage->door->scratch;
    ssize_t n = recv(passage->client, scratch, RECORD_MAX, MSG_PEEK | MSG_DONTWAIT);
    int64_t part;
    int sent;

    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : TLS_FAILED;
    if (n == 0)
        return TLS_FAILED; /* the program went away in the middle of its request */
    part = relay_body_part(passage, scratch, (size_t)n);
    if (part <= 0)
        return part < 0 ? TLS_FAILED : 0;
    sent = tls_write(relay->connection, scratch, (size_t)part);
    if (sent < 0)
        return sent;
    passage->up.ended = relay_body_went(passage, scratch, (size_t)sent);
    if (recv(passage->client, NULL, (size_t)sent, MSG_TRUNC | MSG_DONTWAIT) != sent)
        return TLS_FAILED;
    passage->up.bytes += (uint64_t)sent;
    passage->active_ms = clock_wall_ms();
    return 1;
}

/* False: the passage is gone. */
static bool request(struct passage *passage)
{
    struct tls_relay *relay = passage->tls;
    int r = passage->buffer ? send_first(passage) : 0;

    if (r == 0 && !passage->up.ended) {
        r = 1;
        for (size_t i = 0; i < ROUNDS && r == 1 && !passage->up.ended; i++)
            r = send_some(passage);
    }
    relay->write_wants_read = r == TLS_WANT_READ;
    if (r == TLS_FAILED || r == TLS_ENDED) {
        passage_cut(passage, REASON_NONE);
        return false;
    }
    if (r == TLS_WANT_WRITE) {
        (void)event_del(&passage->client_read);
        (void)event_add(&passage->server_write, NULL);
    } else if (passage->up.ended || r == TLS_WANT_READ) {
        (void)event_del(&passage->client_read);
    } else {
        (void)event_add(&passage->client_read, NULL);
    }
    return true;
}

static void client_readable(evutil_socket_t fd, short what, void *context)
{
    (void)request(context);
}

static void server_writable(evutil_socket_t fd, short what, void *context)
{
    (void)request(context);
}

static void server_readable(evutil_socket_t fd, short what, void *context)
{
    struct passage *passage = context;
    struct tls_relay *relay = passage->tls;
    bool again = relay->write_wants_read;

    if (answer(passage) && again)
        (void)request(passage);
}

static void client_writable(evutil_socket_t fd, short what, void *context)
{
    (void)answer(context);
}

static void look_whether_idle(evutil_socket_t fd, short what, void *context)
{
    static const struct timeval again = {.tv_sec = LOOK_AGAIN_S};
    struct passage *passage = context;

    if (clock_wall_ms() - passage->active_ms > IDLE_MS)
        passage_cut(passage, REASON_NONE);
    else
        (void)event_add(&passage->deadline, &again);
}

static void begin_relay(struct passage *passage)
{
    static const struct timeval look = {.tv_sec = LOOK_AGAIN_S};
    struct event_base *loop = passage->door->loop;

    (void)event_del(&passage->server_read);
    (void)event_del(&passage->server_write);
    (void)event_del(&passage->deadline);
    (void)event_assign(&passage->client_read, loop, passage->client, EV_READ | EV_PERSIST,
        client_readable, passage);
    (void)event_assign(&passage->server_read, loop, passage->server, EV_READ | EV_PERSIST,
        server_readable, passage);
    (void)event_assign(
        &passage->client_write, loop, passage->client, EV_WRITE, client_writable, passage);
    (void)event_assign(
        &passage->server_write, loop, passage->server, EV_WRITE, server_writable, passage);
    (void)evtimer_assign(&passage->deadline, loop, look_whether_idle, passage);
    passage->state = PASSAGE_RELAY;
    passage->active_ms = clock_wall_ms();
    (void)event_add(&passage->deadline, &look);
    if (request(passage))
        (void)answer(passage);
}

/* ---- the head ---- */

/* With the header in it, so in locked memory alone; *RET_SIZE 0: it does not fit. */
static void compose_head(struct passage *passage, const struct http_head *head, size_t *ret_size)
{
    const struct door_forward *forward = forward_of(passage);
    const struct locked_key *key = tls_client_key(forward->tls);
    const char *drop[] = {"Accept-Encoding", forward->header, "Range", "If-Range", NULL};
    char *locked = passage->door->locked, host[HOST_TEXT_MAX], *add = locked;

    host_pattern_format(&passage->target, host);
    if (passage->target.port == HOST_PORT_STANDARD)
        *strrchr(host, ':') = '\0';
    /* An answer that is packed, or comes in parts, could not be looked through. */
    (void)snprintf(add, DOOR_LOCKED_HEAD, "Accept-Encoding: identity\r\n%s%s%s%s",
        key ? forward->header : "", key ? ": " : "", key ? key->value : "", key ? "\r\n" : "");
    *ret_size = http_head_rewrite(passage->buffer, head, host, drop, add, locked + DOOR_LOCKED_HEAD,
        DOOR_LOCKED_BYTES - DOOR_LOCKED_HEAD);
}

/* A connection that was just made takes a head at once. */
static int write_head(struct passage *passage, const struct http_head *head)
{
    struct tls_relay *relay = passage->tls;
    char *locked = passage->door->locked;
    size_t size, at = 0;

    compose_head(passage, head, &size);
    while (at < size) {
        int n = tls_write(relay->connection, locked + DOOR_LOCKED_HEAD + at, size - at);

        if (n < 0)
            break;
        at += (size_t)n;
    }
    explicit_bzero(locked, DOOR_LOCKED_BYTES);
    passage->up.bytes += at;
    return size > 0 && at == size ? 0 : -EIO;
}

static void send_request(struct passage *passage)
{
    struct http_head head;
    int r = http_head_parse_origin(passage->buffer, passage->have, &head) == 0 ? 0 : -EINVAL;

    if (r == 0)
        r = write_head(passage, &head);
    if (r == 0)
        r = passage_keep_body(passage, &head, head.size);
    if (r < 0) {
        passage_refuse(passage, REASON_CONNECT_FAILED, "the server did not take the request");
        return;
    }
    passage->gone = head.size; /* it went, in its other form */
    begin_relay(passage);
}

/* ---- the handshake ---- */

static void shake(struct passage *passage);

static void shake_ready(evutil_socket_t fd, short what, void *context)
{
    shake(context);
}

static void shake(struct passage *passage)
{
    struct tls_relay *relay = passage->tls;
    int r = tls_handshake(relay->connection);
    const char *fault;

    (void)event_del(&passage->server_read);
    (void)event_del(&passage->server_write);
    if (r == TLS_WANT_READ) {
        (void)event_add(&passage->server_read, NULL);
    } else if (r == TLS_WANT_WRITE) {
        (void)event_add(&passage->server_write, NULL);
    } else if (r == 0) {
        passage_tell(passage);
        send_request(passage);
    } else {
        fault = tls_certificate_fault(relay->connection);
        passage_refuse(passage, fault ? REASON_CERTIFICATE_REFUSED : REASON_CONNECT_FAILED,
            fault ? fault : "the server does not speak TLS as it should");
    }
}

void tls_forward_begin(struct passage *passage)
{
    static const struct timeval at_most = {.tv_sec = HANDSHAKE_S};
    const struct door_forward *forward = forward_of(passage);
    const struct locked_key *key = tls_client_key(forward->tls);
    struct tls_relay *relay = calloc(1, sizeof(*relay));
    struct event_base *loop = passage->door->loop;
    bool secret = key && key->secret_length >= MASK_SECRET_MIN;

    passage->tls = relay;
    passage->state = PASSAGE_SECURING;
    if (!relay || tls_begin(forward->tls, passage->server, &relay->connection) < 0 ||
        mask_init(&relay->mask, secret ? key->secret : NULL, secret ? key->secret_length : 0) < 0) {
        passage_refuse(passage, REASON_CONNECT_FAILED, "out of memory");
        return;
    }
    (void)event_assign(&passage->server_read, loop, passage->server, EV_READ, shake_ready, passage);
    (void)event_assign(
        &passage->server_write, loop, passage->server, EV_WRITE, shake_ready, passage);
    (void)event_add(&passage->deadline, &at_most);
    shake(passage);
}
