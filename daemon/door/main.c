/* saphan-door - the only way out of a leg whose network is `door`.
 *
 * Usage: saphan-door UID: descriptor 3 = its seam channel, 4 = an empty directory to live in.
 *
 * What it should do: wait until the warden gives it a leg (a list of hosts, forwards, the leg's own
 * listening sockets); accept what the leg's programs connect to these; read which host they ask for
 * (HTTP CONNECT, plain HTTP, SOCKS5, or the fixed target of a forward); let through what the list
 * says, to an address that it has checked; tell the warden each decision, and the end of each
 * connection with its bytes.  Where a forward says so it speaks TLS to the server and adds a header
 * whose value no program of the leg ever sees.
 *
 * What it must not: connect to an address that it has not checked; take a host from one place of a
 * request and send another on; keep a program waiting for an answer that is no; grow with what a
 * leg does (DOOR_PASSAGES_MAX connections, no buffer of their own once bytes go both ways); look
 * into what goes through a tunnel beyond the name in its first bytes.
 *
 * What an attacker who owns it gains: one leg's way out.  It is in the host's network namespace, so
 * he could connect anywhere that this machine's network lets anybody connect, as an id that nobody
 * else has; and he has the header values of this leg's forwards.  No file, no process, no socket
 * with a path; an empty root, no capability, and a filter of the calls that a proxy makes.  To the
 * warden he can tell lies about what was decided: they are events, which decide no verdict.
 */
#include "door.h"

#include "decisions.h"
#include "door_walls.h"
#include "fault.h"
#include "log.h"
#include "outlets.h"
#include "passage.h"
#include "steps.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>

#define ROOT 4

static int say_ready(const struct fault *fault)
{
    struct seam_failed ready = {.step = fault->step, .error = fault->error};
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, SEAM_DOOR_READY, 0);
    ready.subject = seam_put_text(&writer, fault->subject);
    r = seam_send(DOOR_CHANNEL, &writer, &ready, NULL, 0);
    seam_writer_done(&writer);
    return r;
}

static void serve(struct door *door, struct seam_message *message)
{
    struct fault fault = {0};
    int r = door->serving ? -EALREADY : door_serve(door, message, &fault);

    if (r < 0 && fault.step == 0)
        (void)fault_set(&fault, STEP_DOOR, -r, "asked twice");
    if (say_ready(&fault) != 0 || r < 0)
        (void)event_base_loopbreak(door->loop);
}

static void change(struct door *door, const struct seam_message *message)
{
    struct host_pattern pattern;

    if (!seam_host(message, message->fixed, &pattern))
        return;
    if (message->header.type == SEAM_DOOR_ALLOW)
        door_allow(door, &pattern);
    else
        door_deny(door, &pattern);
}

/* The leg is over: what is open ends here, and is told. */
static void end(struct door *door)
{
    struct passage *passage;

    while ((passage = TAILQ_FIRST(&door->passages)))
        passage_close(passage, REASON_NONE);
    decisions_flush(door);
    (void)event_base_loopbreak(door->loop);
}

static void take(struct door *door, struct seam_message *message)
{
    const struct seam_door_socket *socket = message->fixed;

    switch (message->header.type) {
    case SEAM_DOOR_SERVE:
        serve(door, message);
        break;
    case SEAM_DOOR_ALLOW:
    case SEAM_DOOR_DENY:
        change(door, message);
        break;
    case SEAM_DOOR_SOCKET:
        passage_dialed(door, socket->serial,
            socket->error || message->n_descriptors != 1
                ? -(socket->error ? socket->error : EBADMSG)
                : steal_fd(&message->descriptors[0]));
        break;
    case SEAM_DOOR_END:
        end(door);
        break;
    default:
        (void)event_base_loopbreak(door->loop);
    }
}

static void warden_says(evutil_socket_t fd, short what, void *context)
{
    struct door *door = context;
    struct seam_message message;
    int r = seam_receive(DOOR_CHANNEL, &message);

    if (r == -EAGAIN)
        return;
    if (r != 0) { /* the warden is gone, or has let go of us */
        (void)event_base_loopbreak(door->loop);
        return;
    }
    take(door, &message);
    seam_message_done(&message);
}

static int open_loop(struct door *door)
{
    struct event_config *config = event_config_new();
    int r;

    if (!config)
        return -ENOMEM;
    (void)event_config_set_flag(config, EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST);
    (void)event_config_set_flag(config, EVENT_BASE_FLAG_IGNORE_ENV);
    door->loop = event_base_new_with_config(config);
    event_config_free(config);
    if (!door->loop)
        return -ENOMEM;
    door->channel = event_new(door->loop, DOOR_CHANNEL, EV_READ | EV_PERSIST, warden_says, door);
    if (!door->channel || event_add(door->channel, NULL) < 0)
        return -ENOMEM;
    r = ducts_open(door);
    return r < 0 ? r : decisions_open(door);
}

int main(int argc, char **argv)
{
    static struct door door; /* the one context: too big for a stack frame to be tidy */
    struct fault fault = {0};
    uint64_t uid;
    int r;

    log_open("saphan-door", LOG_LEVEL_INFO);
    if (argc != 2 || text_parse_uint(argv[1], UINT32_MAX - 1, &uid) < 0 || uid == 0) {
        log_error("usage: saphan-door UID: a plain decimal number, not 0");
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN); /* TLS writes by write(2) */
    tzset(); /* reads a file: a certificate's dates are compared when there is none any more */
    TAILQ_INIT(&door.passages);
    r = fcntl(DOOR_CHANNEL, F_SETFL, O_NONBLOCK) < 0 ? -errno : open_loop(&door);
    if (r < 0)
        (void)fault_set(&fault, STEP_DOOR, -r, "loop");
    else
        r = door_enclose((uint32_t)uid, ROOT, &fault);
    if (r < 0) {
        log_error(
            "step %s: %s: %s", step_slug(fault.step), fault.subject, fault_errno_name(fault.error));
        return 1;
    }
    waiting_serve(&door);
    _exit(0);
}
