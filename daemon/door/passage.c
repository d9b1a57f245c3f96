/* passage.c - from a connection's first byte to the point where bytes go both ways.
 *
 * What is asked for is read, matched with the list, resolved; each address is checked, and what is
 * connected to is that address and nothing that a second look at the name would give. */
#include "passage.h"

#include "answers_out.h"
#include "clock.h"
#include "decisions.h"
#include "fault.h"
#include "text.h"
#include "tls_forward.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define HEAD_S 20 /* a head that is not whole by then is given up */
#define CONNECT_S 10
#define ENDING_S 2
#define DISCARD_MAX (256 * 1024)

static void set_deadline(struct passage *passage, int seconds)
{
    struct timeval at = {.tv_sec = seconds};

    (void)event_add(&passage->deadline, &at);
}

/* ---- the end ---- */

static void subject_of(const struct passage *passage, char out[HOST_TEXT_MAX])
{
    if (passage->target.kind == HOST_EXACT || passage->target.kind == HOST_ADDRESS)
        host_pattern_format(&passage->target, out);
    else if (passage->way == WAY_FORWARD)
        (void)snprintf(out, HOST_TEXT_MAX, "unix:%.200s",
            passage->door->forwards[passage->forward].forward.path);
    else
        (void)snprintf(out, HOST_TEXT_MAX, "(request)");
}

static void release_sockets(struct passage *passage)
{
    /* Events first: a descriptor that is closed while it is watched could be another one's. */
    (void)event_del(&passage->client_read);
    (void)event_del(&passage->client_write);
    (void)event_del(&passage->server_read);
    (void)event_del(&passage->server_write);
    (void)event_del(&passage->deadline);
    close_fd(&passage->client);
    close_fd(&passage->server);
    duct_give_back(passage->door, &passage->up.duct);
    duct_give_back(passage->door, &passage->down.duct);
}

static void tell_end(struct passage *passage, enum reason reason)
{
    char subject[HOST_TEXT_MAX];

    if (!passage->told)
        return;
    passage->told = false;
    subject_of(passage, subject);
    decisions_disconnected(
        passage->door, passage->number, subject, reason, passage->up.bytes, passage->down.bytes);
}

void passage_close(struct passage *passage, enum reason reason)
{
    struct door *door = passage->door;

    resolve_cancel(passage);
    tell_end(passage, reason);
    tls_forward_done(passage);
    release_sockets(passage);
    TAILQ_REMOVE(&door->passages, passage, entry);
    door->n_passages--;
    free(passage->buffer);
    free(passage);
}

void passage_cut(struct passage *passage, enum reason reason)
{
    static const struct linger at_once = {.l_onoff = 1};

    (void)setsockopt(passage->client, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    if (passage->server >= 0)
        (void)setsockopt(passage->server, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    passage_close(passage, reason);
}

static void timed_out(evutil_socket_t fd, short what, void *context);

/* Answered or refused: the client reads that and then the end; what it still sends is thrown away
 * for a moment, for a close over unread bytes would take the answer away from it.  True: that was
 * all. */
static bool discard_some(struct passage *passage)
{
    ssize_t n =
        recv(passage->client, passage->door->scratch, sizeof(passage->door->scratch), MSG_DONTWAIT);

    if (n < 0 && errno == EAGAIN)
        return false;
    if (n > 0)
        passage->thrown_away += (uint32_t)n;
    return n <= 0 || passage->thrown_away > DISCARD_MAX;
}

static void discard(evutil_socket_t fd, short what, void *context)
{
    if (discard_some(context))
        passage_close(context, REASON_NONE);
}

static void begin_ending(struct passage *passage)
{
    if (discard_some(passage)) { /* mostly the program has no more to say, or is gone already */
        passage_close(passage, REASON_NONE);
        return;
    }
    (void)shutdown(passage->client, SHUT_WR);
    (void)event_del(&passage->client_read);
    (void)event_del(&passage->client_write);
    (void)event_del(&passage->server_read);
    (void)event_del(&passage->server_write);
    (void)event_del(
        &passage->deadline); /* it is assigned anew below, which no pending one may be */
    tls_forward_done(passage);
    close_fd(&passage->server);
    passage->state = PASSAGE_ENDING;
    (void)event_assign(&passage->client_read, passage->door->loop, passage->client,
        EV_READ | EV_PERSIST, discard, passage);
    (void)evtimer_assign(&passage->deadline, passage->door->loop, timed_out, passage);
    (void)event_add(&passage->client_read, NULL);
    set_deadline(passage, ENDING_S);
}

void passage_finish(struct passage *passage)
{
    tell_end(passage, REASON_NONE);
    begin_ending(passage);
}

/* Tells the warden and the program why not.  PASSAGE is on its way out after it. */
void passage_refuse(struct passage *passage, enum reason reason, const char *detail)
{
    char subject[HOST_TEXT_MAX], safe[400];

    subject_of(passage, subject);
    text_escape(detail, safe, sizeof(safe));
    decisions_refused(passage->door, subject, reason, safe);
    answer_refusal(passage, reason, subject, safe);
    begin_ending(passage);
}

static void timed_out(evutil_socket_t fd, short what, void *context)
{
    struct passage *passage = context;

    if (passage->state == PASSAGE_ENDING)
        passage_close(passage, REASON_NONE);
    else if (passage->state == PASSAGE_SECURING)
        passage_refuse(passage, REASON_CONNECT_FAILED, "TLS did not come to stand in time");
    else if (passage->state == PASSAGE_DIALING)
        passage_refuse(passage, REASON_CONNECT_FAILED, "the warden did not answer in time");
    else
        passage_refuse(passage, REASON_PROXY_REQUEST_MALFORMED, "it did not come in time");
}

/* ---- connecting ---- */

static void connect_next(struct passage *passage, int error);

void passage_tell(struct passage *passage)
{
    char subject[HOST_TEXT_MAX], detail[600];

    (void)event_del(&passage->deadline);
    subject_of(passage, subject);
    answer_describe(passage, detail, sizeof(detail));
    passage->told = true;
    passage->number = ++passage->door->next_passage;
    decisions_connected(passage->door, passage->number, subject, detail);
}

/* A tunnel to the port of TLS: the name in its first bytes is looked at before any of them goes. */
static bool wants_hello(const struct passage *passage)
{
    return passage->tunnel && passage->way != WAY_FORWARD && passage->target.kind == HOST_EXACT &&
           passage->target.port == HOST_PORT_STANDARD;
}

/* The program is told, and what it sent already goes on. */
static void connected(struct passage *passage)
{
    static const int on = 1;
    int r;

    (void)event_del(&passage->server_write);
    /* What goes there in one piece needs nothing of the kind. */
    if (passage->tunnel || !passage->up.ended)
        (void)setsockopt(passage->server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (tls_forward_is(passage)) {
        tls_forward_begin(passage);
        return;
    }
    r = answer_good(passage);
    if (!passage->tunnel)
        (void)relay_first(passage); /* while the server works at it there is time to tell */
    passage_tell(passage);
    if (r < 0) {
        passage_close(passage, REASON_NONE);
        return;
    }
    if (!wants_hello(passage)) {
        relay_begin(passage);
        return;
    }
    passage->state = PASSAGE_HELLO;
    set_deadline(passage, HEAD_S);
    (void)event_add(&passage->client_read, NULL);
    if (passage->have > 0)
        event_active(&passage->client_read, EV_READ, 0);
}

static void connect_ready(evutil_socket_t fd, short what, void *context)
{
    struct passage *passage = context;
    int error = 0;
    socklen_t size = sizeof(error);

    if (what & EV_TIMEOUT)
        error = ETIMEDOUT;
    else if (getsockopt(passage->server, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
        error = errno;
    if (error)
        connect_next(passage, error);
    else
        connected(passage);
}

static socklen_t fill_address(
    const struct host_address *address, uint16_t port, struct sockaddr_storage *ret)
{
    struct sockaddr_in *four = (struct sockaddr_in *)ret;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)ret;

    memset(ret, 0, sizeof(*ret));
    if (address->family == 4) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        memcpy(&four->sin_addr, address->bytes, 4);
        return sizeof(*four);
    }
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    memcpy(&six->sin6_addr, address->bytes, 16);
    return sizeof(*six);
}

/* 1: it stands; 0: it will be told; -errno. */
static int begin_connect(struct passage *passage, const struct host_address *address)
{
    static const struct timeval at_most = {.tv_sec = CONNECT_S};
    struct sockaddr_storage to;
    socklen_t size = fill_address(address, passage->target.port, &to);

    passage->server = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    if (passage->server < 0)
        return -errno;
    if (connect(passage->server, (struct sockaddr *)&to, size) < 0 && errno != EINPROGRESS)
        return -errno;
    /* A peer on this machine has answered by now: connect(2) says so when it is asked again. */
    if (connect(passage->server, (struct sockaddr *)&to, size) == 0 || errno == EISCONN)
        return 1;
    if (errno != EALREADY)
        return -errno;
    (void)event_assign(&passage->server_write, passage->door->loop, passage->server, EV_WRITE,
        connect_ready, passage);
    return event_add(&passage->server_write, &at_most) < 0 ? -ENOMEM : 0;
}

/* The next of the checked addresses; ERROR is what the one before it came to. */
static void connect_next(struct passage *passage, int error)
{
    char detail[64 + ADDRESS_TEXT_MAX], address[ADDRESS_TEXT_MAX] = "";

    (void)event_del(&passage->server_write);
    close_fd(&passage->server);
    (void)event_del(&passage->deadline);
    passage->state = PASSAGE_CONNECTING;
    while (passage->at_address < passage->n_addresses) {
        int r = begin_connect(passage, &passage->addresses[passage->at_address++]);

        if (r == 1)
            connected(passage);
        if (r >= 0)
            return;
        error = -r;
        close_fd(&passage->server);
    }
    address_format(&passage->addresses[passage->n_addresses - 1], address);
    (void)snprintf(detail, sizeof(detail), "%s: %s", address, fault_errno_name(error));
    passage_refuse(passage, REASON_CONNECT_FAILED, detail);
}

void passage_dialed(struct door *door, uint32_t serial, int socket)
{
    struct passage *passage;

    TAILQ_FOREACH(passage, &door->passages, entry)
    {
        if (passage->state == PASSAGE_DIALING && (uint32_t)passage->number == serial)
            break;
    }
    if (!passage) {
        close_fd(&socket);
        return;
    }
    if (socket < 0) {
        passage_refuse(passage, REASON_CONNECT_FAILED, fault_errno_name(-socket));
        return;
    }
    passage->server = socket;
    connected(passage);
}

/* ---- deciding ---- */

/* The patterns that count as named for this passage's addresses. */
static bool address_allowed(const struct passage *passage, const struct host_address *address)
{
    const struct door *door = passage->door;

    if (passage->way == WAY_FORWARD &&
        host_address_allowed(
            &door->forwards[passage->forward].on_list, 1, &passage->target, address))
        return true;
    return host_address_allowed(door->hosts, door->n_hosts, &passage->target, address);
}

void passage_resolved(
    struct passage *passage, const struct host_address *addresses, size_t count, const char *why)
{
    char detail[ADDRESS_TEXT_MAX + 64], address[ADDRESS_TEXT_MAX];

    passage->resolution = NULL;
    (void)event_del(&passage->deadline);
    if (count == 0) {
        passage_refuse(passage, REASON_NAME_UNRESOLVED, why ? why : "");
        return;
    }
    /* One address that may not be is enough: a name that gives such a one is not to be trusted. */
    for (size_t i = 0; i < count; i++) {
        if (address_allowed(passage, &addresses[i]))
            continue;
        address_format(&addresses[i], address);
        (void)snprintf(detail, sizeof(detail), "%s is a %s address", address,
            address_kind_name(address_kind(&addresses[i])));
        passage_refuse(passage, REASON_ADDRESS_REFUSED, detail);
        return;
    }
    passage->n_addresses = (uint8_t)(count < PASSAGE_ADDRESSES_MAX ? count : PASSAGE_ADDRESSES_MAX);
    memcpy(passage->addresses, addresses, passage->n_addresses * sizeof(*addresses));
    passage->at_address = 0;
    connect_next(passage, 0);
}

void passage_look_up(struct passage *passage)
{
    static const struct host_address here[] = {
        {.family = 4, .bytes = {127, 0, 0, 1}}, {.family = 6, .bytes = {[15] = 1}}};

    passage->state = PASSAGE_RESOLVING;
    if (passage->target.kind == HOST_ADDRESS)
        passage_resolved(passage, &passage->target.address, 1, NULL);
    else if (text_equal(passage->target.name, "localhost")) /* RFC 6761: never asked for */
        passage_resolved(passage, here, array_size(here), NULL);
    else
        resolve_begin(passage);
}

/* What the program asked for is known. */
void passage_asked(struct passage *passage)
{
    (void)event_del(&passage->client_read);
    (void)event_del(&passage->deadline);
    if (!host_list_find(passage->door->hosts, passage->door->n_hosts, &passage->target)) {
        passage_refuse(passage, REASON_HOST_NOT_LISTED, answer_way_name(passage));
        return;
    }
    passage_look_up(passage);
}

/* ---- the beginning ---- */

static void begin_forward(struct passage *passage)
{
    const struct door_forward *forward = &passage->door->forwards[passage->forward];

    passage->tunnel = true;
    passage->target = forward->forward.host;
    if (forward->forward.kind == FORWARD_UNIX) {
        passage->state = PASSAGE_DIALING;
        passage->number = ++passage->door->next_passage;
        set_deadline(passage, CONNECT_S);
        if (decisions_dial(passage->door, passage->forward, (uint32_t)passage->number) != 0)
            passage_refuse(passage, REASON_CONNECT_FAILED, "the warden cannot be asked");
        return;
    }
    passage_look_up(passage);
}

void passage_begin(struct door *door, struct outlet *outlet, int client)
{
    struct passage *passage = calloc(1, sizeof(*passage));

    if (!passage) {
        close(client);
        return;
    }
    passage->door = door;
    passage->way = outlet->way;
    passage->forward = outlet->forward;
    passage->client = client;
    passage->server = -EBADF;
    TAILQ_INSERT_TAIL(&door->passages, passage, entry);
    door->n_passages++;
    (void)event_assign(&passage->client_read, door->loop, client, EV_READ | EV_PERSIST,
        passage_client_readable, passage);
    (void)event_assign(
        &passage->client_write, door->loop, client, EV_WRITE, passage_client_readable, passage);
    (void)event_assign(&passage->server_read, door->loop, -1, 0, connect_ready, passage);
    (void)event_assign(&passage->server_write, door->loop, -1, 0, connect_ready, passage);
    (void)evtimer_assign(&passage->deadline, door->loop, timed_out, passage);
    if (passage->way == WAY_FORWARD && !tls_forward_is(passage)) {
        begin_forward(passage);
        return;
    }
    set_deadline(passage, HEAD_S);
    if (event_add(&passage->client_read, NULL) < 0)
        passage_close(passage, REASON_NONE);
    else
        passage_client_readable(client, EV_READ, passage); /* the first bytes are mostly there */
}
