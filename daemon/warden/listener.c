#include "listener.h"

#include "accounts.h"
#include "fault.h"
#include "fronts.h"
#include "log.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>

#define PAUSE_US 100000

/* Then the others have their turn: each may cost the start of a front. */
#define CONNECTIONS_A_TURN 4

/* A zero length: too busy, come again (PROTOCOL.md). */
static const char busy_frame[4] = {0};

static void say_busy(int connection)
{
    (void)!send(connection, busy_frame, sizeof(busy_frame), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* SO_PEERCRED and SO_PEERGROUPS: unix(7).  They are the peer's when it called connect(2). */
static int read_peer(int connection, struct peer *ret_peer, uint32_t *ret_pid)
{
    struct ucred cred;
    socklen_t size = sizeof(cred);
    gid_t groups[GROUPS_MAX];
    socklen_t groups_size = sizeof(groups);

    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0)
        return -errno;
    if (cred.pid <= 0 || cred.uid == (uid_t)-1)
        return -ESRCH;
    memset(ret_peer, 0, sizeof(*ret_peer));
    ret_peer->uid = cred.uid;
    ret_peer->gid = cred.gid;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERGROUPS, groups, &groups_size) == 0)
        ret_peer->n_groups = (uint32_t)(groups_size / sizeof(gid_t));
    else if (errno == ERANGE) /* more than fit, and the size says how many: admit() refuses them */
        ret_peer->n_groups_unread = (uint32_t)(groups_size / sizeof(gid_t));
    else
        return -errno;
    for (uint32_t i = 0; i < ret_peer->n_groups; i++)
        ret_peer->groups[i] = groups[i];
    *ret_pid = (uint32_t)cred.pid;
    return 0;
}

static void take_connection(struct warden *warden, int accepted)
{
    auto_close int connection = accepted;
    struct peer peer;
    uint32_t pid = 0;
    int r;

    r = read_peer(connection, &peer, &pid);
    if (r < 0) {
        log_warning("connection: peer cannot be known: %s: closed", strerror(-r));
        return;
    }
    if (warden->stopping || warden->n_fronts_serving >= warden->options.connections ||
        fronts_of(warden, peer.uid) >= warden->options.connections_per_user) {
        say_busy(connection);
        return;
    }
    r = fronts_serve(warden, connection, &peer, pid, account_of(peer.uid));
    if (r < 0) {
        log_error("connection of uid %u: no front: %s", peer.uid, fault_errno_name(-r));
        say_busy(connection);
    }
}

static void pause_over(evutil_socket_t fd, short what, void *context)
{
    listener_resume(context);
}

/* A connection for which there is no descriptor would wake us for ever while it waits: it is told
 * so by means of the one that is kept for that. */
static void turn_away(struct warden *warden)
{
    static const struct timeval pause = {.tv_usec = PAUSE_US};
    auto_close int connection = -EBADF;
    bool answered;

    log_warning("connection: no descriptor for it: told to come again");
    close_fd(&warden->spare);
    connection = accept4(warden->socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    answered = connection >= 0;
    if (answered)
        say_busy(connection);
    close_fd(&connection);
    warden->spare = fcntl(warden->null, F_DUPFD_CLOEXEC, 3);
    if (answered && warden->spare >= 0)
        return;
    (void)event_del(warden->socket_event);
    (void)event_base_once(warden->loop, -1, EV_TIMEOUT, pause_over, warden, &pause);
}

static void connection_waits(evutil_socket_t fd, short what, void *context)
{
    struct warden *warden = context;

    for (int i = 0; i < CONNECTIONS_A_TURN; i++) {
        int connection;

        if (!fronts_can_serve(warden)) { /* they wait in the socket's queue: listener_resume() */
            (void)event_del(warden->socket_event);
            return;
        }
        connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (connection < 0 && fault_is_shortage(errno))
            turn_away(warden);
        if (connection < 0)
            return;
        take_connection(warden, connection);
    }
}

/* The socket's folder is ours (root's, not writable by others: custody checks it), so the name is
 * not raced for; a dead daemon's socket is replaced, a living one's is not. */
static int replace_dead_socket(const struct sockaddr_un *address)
{
    auto_close int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (probe < 0)
        return -errno;
    if (connect(probe, (const struct sockaddr *)address, sizeof(*address)) == 0 || errno == EAGAIN)
        return -EADDRINUSE;
    if (errno != ENOENT && unlink(address->sun_path) < 0 && errno != ENOENT)
        return -errno;
    return 0;
}

static int set_owner(const struct warden *warden, const char *path)
{
    uint32_t gid = 0;

    if (warden->options.socket_group) {
        int r = account_gid(warden->options.socket_group, &gid);

        if (r < 0) {
            log_error("socket: there is no group %s: add it, or set SocketGroup=",
                warden->options.socket_group);
            return r;
        }
    }
    if (chown(path, 0, gid) < 0)
        return -errno;
    /* A private daemon's socket is reached through its folder: the folder's mode decides. */
    return chmod(path, warden->options.private_directory ? 0666 : 0660) < 0 ? -errno : 0;
}

static int make_socket(struct warden *warden)
{
    auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int r;

    if (fd < 0)
        return -errno;
    if (strlen(warden->options.socket) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", warden->options.socket);
    r = replace_dead_socket(&address);
    if (r < 0)
        return r;
    (void)umask(0177);
    r = bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
    (void)umask(0077);
    if (r == -ENOENT)
        log_error(
            "socket: its directory is not there: `systemd-tmpfiles --create` makes that of the "
            "package; or set Socket=");
    if (r == 0)
        r = set_owner(warden, address.sun_path);
    if (r == 0 && listen(fd, 1024) < 0)
        r = -errno;
    if (r < 0)
        return r;
    warden->socket = steal_fd(&fd);
    warden->socket_is_ours = true;
    return 0;
}

int listener_open(struct warden *warden)
{
    int passed = sd_listen_fds(1), r;

    if (passed > 1) {
        log_error("socket: systemd passed %d sockets, one is wanted", passed);
        return -EINVAL;
    }
    if (passed == 1) {
        if (sd_is_socket_unix(SD_LISTEN_FDS_START, SOCK_STREAM, 1, NULL, 0) <= 0)
            return -EINVAL;
        warden->socket = fcntl(SD_LISTEN_FDS_START, F_DUPFD_CLOEXEC, 10);
        if (warden->socket < 0 || fcntl(warden->socket, F_SETFL, O_NONBLOCK) < 0)
            return -errno;
    } else {
        r = make_socket(warden);
        if (r < 0) {
            log_error("socket %s: %s", warden->options.socket, strerror(-r));
            return r;
        }
    }
    warden->spare = fcntl(warden->null, F_DUPFD_CLOEXEC, 3);
    if (warden->spare < 0)
        return -errno;
    warden->socket_event =
        event_new(warden->loop, warden->socket, EV_READ | EV_PERSIST, connection_waits, warden);
    if (!warden->socket_event || event_add(warden->socket_event, NULL) < 0)
        return -ENOMEM;
    return 0;
}

void listener_resume(struct warden *warden)
{
    if (warden->socket_event)
        (void)event_add(warden->socket_event, NULL);
}

void listener_close(struct warden *warden)
{
    if (warden->socket_event)
        event_free(warden->socket_event);
    warden->socket_event = NULL;
    if (warden->socket_is_ours)
        (void)unlink(warden->options.socket);
    close_fd(&warden->socket);
    close_fd(&warden->spare);
}
