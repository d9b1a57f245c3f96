/* relay.c - bytes both ways, without a buffer of a connection's own.
 *
 * What nobody has to look at goes through a duct, uncopied.  Where it has to be looked at, or where
 * no duct is free, what waits in one socket is copied (MSG_PEEK), sent to the other, and only as
 * much as was taken there is taken out here.  So a peer that does not read costs the kernel's own
 * buffers and nothing of ours, and ten thousand of them cost no more than one each. */
#include "passage.h"

#include "clock.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#define ROUNDS 8 /* then the others have their turn */
#define DUCT_ONCE (1U << 20)
#define LOOK_AGAIN_S 60
#define IDLE_MS (3600LL * 1000)
#define HALF_CLOSED_MS (60LL * 1000) /* the server is done, and the client says nothing */

enum { WANT_READ, WANT_WRITE, DONE };

/* How much of what waits belongs to the request's body. */
int64_t relay_body_part(const struct passage *passage, const char *bytes, size_t size)
{
    struct http_chunks chunks = passage->chunks;
    bool ended;

    if (passage->body == HTTP_BODY_NONE)
        return 0;
    if (passage->body == HTTP_BODY_LENGTH)
        return (int64_t)(size < passage->body_left ? size : passage->body_left);
    return chunks.state == 0 && size == 0 ? 0 : http_chunks_run(&chunks, bytes, size, &ended);
}

/* SIZE bytes of the body went on.  True: it is whole. */
bool relay_body_went(struct passage *passage, const char *bytes, size_t size)
{
    bool ended = false;

    if (passage->body == HTTP_BODY_LENGTH) {
        passage->body_left -= size;
        return passage->body_left == 0;
    }
    if (passage->body == HTTP_BODY_CHUNKED)
        (void)http_chunks_run(&passage->chunks, bytes, size, &ended);
    return ended;
}

static ssize_t take_out(struct passage *passage, int from, size_t size)
{
    ssize_t n = recv(from, NULL, size, MSG_TRUNC | MSG_DONTWAIT);

    if (n < 0 && (errno == EFAULT || errno == EOPNOTSUPP)) /* not TCP: unix(7) copies */
        n = recv(from, passage->door->scratch, size, MSG_DONTWAIT);
    return n;
}

static void went(struct passage *passage, struct flow *flow, size_t size)
{
    flow->bytes += size;
    waiting_arrived(passage->door, size);
    passage->active_ms = clock_wall_ms();
}

/* One look, one send.  WANT_*, DONE, -errno; 0 to *RET_MORE when there may be more at once. */
static int move_looking(
    struct passage *passage, struct flow *flow, int from, int to, bool *ret_more)
{
    struct door *door = passage->door;
    bool up = flow == &passage->up;
    ssize_t n = recv(from, door->scratch, sizeof(door->scratch), MSG_PEEK | MSG_DONTWAIT), sent;
    int64_t part = n;

    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? WANT_READ : -errno;
    if (n == 0)
        return DONE;
    if (up && !passage->tunnel) {
        part = relay_body_part(passage, door->scratch, (size_t)n);
        if (part < 0)
            return (int)part;
        if (part == 0)
            return DONE; /* what follows the body is no part of this request: it goes nowhere */
    }
    sent = send(to, door->scratch, (size_t)part, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR ? WANT_WRITE : -errno;
    if (up && !passage->tunnel && relay_body_went(passage, door->scratch, (size_t)sent))
        flow->ended = true;
    if (take_out(passage, from, (size_t)sent) != sent)
        return -EIO;
    went(passage, flow, (size_t)sent);
    *ret_more = n == (ssize_t)sizeof(door->scratch);
    return flow->ended ? DONE : sent < part ? WANT_WRITE : WANT_READ;
}

/* Into the duct, out of the duct, once: the others have their turn, and the more comes together
 * meanwhile the less it costs.  The same answers. */
static int move_by_duct(struct passage *passage, struct flow *flow, int from, int to)
{
    struct duct *duct = flow->duct;
    ssize_t n;

    if (duct->held == 0) {
        n = splice(from, NULL, duct->in, NULL, DUCT_ONCE, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR ? WANT_READ : -errno;
        if (n == 0)
            return DONE;
        duct->held = (size_t)n;
    }
    /* No more than it holds: asked for more, the kernel would wait for more to send. */
    n = splice(duct->out, NULL, to, NULL, duct->held, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? WANT_WRITE : -errno;
    duct->held -= (size_t)n;
    went(passage, flow, (size_t)n);
    return duct->held > 0 ? WANT_WRITE : WANT_READ;
}

static int move_some(struct passage *passage, struct flow *flow, int from, int to, bool *ret_more)
{
    struct door *door = passage->door;
    bool looked_at = flow == &passage->up && !passage->tunnel;
    int r;

    *ret_more = false;
    if (!flow->duct && !looked_at)
        flow->duct = duct_take(door);
    if (!flow->duct)
        return move_looking(passage, flow, from, to, ret_more);
    r = move_by_duct(passage, flow, from, to);
    if (flow->duct->held == 0)
        duct_give_back(door, &flow->duct);
    return r;
}

static void end_of_flow(struct passage *passage, struct flow *flow, int to)
{
    flow->ended = true;
    /* A request's end is told by its own length: the server may take a half-closed connection for a
     * client that is gone. */
    if (flow == &passage->down || passage->tunnel)
        (void)shutdown(to, SHUT_WR);
}

/* An end is seen to behind whatever else has come in this turn: mostly a program's next connection
 * comes with the end of the one before, and to take leave is what can wait.  True: not yet. */
static bool put_off(struct flow *flow, struct event *readable)
{
    if (flow->put_off || flow->ended)
        return false;
    flow->put_off = true;
    event_active(readable, EV_READ, 0);
    return true;
}

/* False: the passage is gone. */
static bool move(struct passage *passage, struct flow *flow)
{
    bool up = flow == &passage->up, more = true;
    int from = up ? passage->client : passage->server, to = up ? passage->server : passage->client;
    struct event *readable = up ? &passage->client_read : &passage->server_read;
    struct event *writable = up ? &passage->server_write : &passage->client_write;
    int r = flow->put_off ? DONE : WANT_READ;

    for (size_t i = 0; i < ROUNDS && more && !flow->put_off; i++)
        r = move_some(passage, flow, from, to, &more);
    if (r < 0) {
        passage_cut(passage, REASON_NONE);
        return false;
    }
    if (r == DONE && put_off(flow, readable))
        return true;
    if (r == DONE && !up && !passage->tunnel) { /* one request was answered */
        passage->down.ended = true;
        passage_finish(passage);
        return false;
    }
    if (r == DONE) {
        end_of_flow(passage, flow, to);
        (void)event_del(readable);
        if (passage->down.ended && passage->up.ended) {
            passage_close(passage, REASON_NONE);
            return false;
        }
    } else if (r == WANT_WRITE) {
        (void)event_del(readable);
        (void)event_add(writable, NULL);
    } else if (!event_pending(readable, EV_READ, NULL)) {
        (void)event_add(readable, NULL);
    }
    return true;
}

int relay_first(struct passage *passage)
{
    while (passage->gone < passage->have) {
        ssize_t n = send(passage->server, passage->buffer + passage->gone,
            passage->have - passage->gone, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -errno;
        passage->gone += (uint32_t)n;
        passage->up.bytes += (uint64_t)n;
    }
    free(passage->buffer);
    passage->buffer = NULL;
    passage->have = passage->gone = passage->capacity = 0;
    return 1;
}

static void send_up(struct passage *passage)
{
    int r = passage->buffer ? relay_first(passage) : 1;

    if (r < 0)
        passage_cut(passage, REASON_NONE);
    else if (r == 0)
        (void)event_add(&passage->server_write, NULL);
    else if (!passage->up.ended)
        (void)move(passage, &passage->up);
}

static void client_readable(evutil_socket_t fd, short what, void *context)
{
    struct passage *passage = context;

    (void)move(passage, &passage->up);
}

static void server_readable(evutil_socket_t fd, short what, void *context)
{
    struct passage *passage = context;

    (void)move(passage, &passage->down);
}

static void client_writable(evutil_socket_t fd, short what, void *context)
{
    struct passage *passage = context;

    (void)move(passage, &passage->down);
}

static void server_writable(evutil_socket_t fd, short what, void *context)
{
    send_up(context);
}

/* Looks now and then; a long silence is an agent's model thinking, a longer one is nobody. */
static void look_whether_idle(evutil_socket_t fd, short what, void *context)
{
    static const struct timeval again = {.tv_sec = LOOK_AGAIN_S};
    struct passage *passage = context;
    int64_t limit = passage->down.ended ? HALF_CLOSED_MS : IDLE_MS;

    if (clock_wall_ms() - passage->active_ms > limit)
        passage_cut(passage, REASON_NONE);
    else
        (void)event_add(&passage->deadline, &again);
}

void relay_begin(struct passage *passage)
{
    static const struct timeval look = {.tv_sec = LOOK_AGAIN_S};
    struct event_base *loop = passage->door->loop;

    (void)event_del(&passage->client_read);
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
    if (event_add(&passage->server_read, NULL) < 0 || event_add(&passage->deadline, &look) < 0) {
        passage_close(passage, REASON_NONE);
        return;
    }
    send_up(passage);
}
