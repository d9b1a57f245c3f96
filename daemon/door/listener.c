/* listener.c - accepts from the leg's own sockets.  They belong to the leg's network namespace, and
 * what is accepted from them does too: nobody outside the leg can come here. */
#include "passage.h"

#include "decisions.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* One too many: it is told at once, and not kept. */
static void turn_away(struct door *door, int client)
{
    static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 38\r\n"
                               "Connection: close\r\n\r\n"
                               "saphan: connections-too-many: try again";
    char thrown[512];

    decisions_refused(door, "(request)", REASON_CONNECTIONS_TOO_MANY, "of this leg");
    (void)send(client, busy, sizeof(busy) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)shutdown(client, SHUT_WR);
    (void)!recv(client, thrown, sizeof(thrown), MSG_DONTWAIT);
    close(client);
}

static void acceptable(evutil_socket_t fd, short what, void *context)
{
    struct outlet *outlet = context;
    struct door *door = outlet->door;
    int client;

    /* One a turn: mostly there is no second one, and to ask for it is a call of its own. */
    if (!decisions_ready(door))
        return;
    client = accept4(outlet->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0)
        return;
    waiting_arrived(door, 0);
    if (door->n_passages >= DOOR_PASSAGES_MAX)
        turn_away(door, client);
    else
        passage_begin(door, outlet, client);
}

/* A descriptor from the leg's pid 1: a listening TCP socket, or nothing. */
static int check_socket(int fd)
{
    static const struct {
        int option, wanted;
    } checks[] = {{SO_DOMAIN, AF_INET}, {SO_TYPE, SOCK_STREAM}, {SO_PROTOCOL, IPPROTO_TCP},
        {SO_ACCEPTCONN, 1}};
    static const int on = 1;

    for (size_t i = 0; i < array_size(checks); i++) {
        int value = -1;
        socklen_t size = sizeof(value);

        if (getsockopt(fd, SOL_SOCKET, checks[i].option, &value, &size) < 0)
            return -errno;
        if (value != checks[i].wanted)
            return -ENOTSOCK;
    }
    /* What is accepted inherits it. */
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
        return -errno;
    return fcntl(fd, F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

int outlet_open(struct door *door, struct outlet *outlet, int fd, enum door_way way)
{
    int r = check_socket(fd);

    if (r < 0)
        return r;
    outlet->door = door;
    outlet->fd = fd;
    outlet->way = way;
    outlet->readable = event_new(door->loop, fd, EV_READ | EV_PERSIST, acceptable, outlet);
    if (!outlet->readable || event_add(outlet->readable, NULL) < 0)
        return -ENOMEM;
    return 0;
}
