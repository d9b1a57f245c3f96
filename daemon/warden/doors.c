#include "doors.h"

#include "dials.h"
#include "journal.h"
#include "legs.h"
#include "log.h"
#include "outlets.h"
#include "program.h"
#include "refill.h"
#include "undertaker.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* Ids that no leg, front, user or service has: each door is a stranger to every other. */
#define DOOR_UID_BASE 0x6ffe0000U
#define DOOR_UIDS 4096U

#define END_PATIENCE_MS 500
#define AUTHORITIES "/etc/ssl/certs/ca-certificates.crt"

struct door {
    TAILQ_ENTRY(door) entry;
    struct warden *warden;
    struct leg *leg; /* NULL: it stands ready */
    uint32_t uid;
    bool serving, ending;
    struct dial_list dials;
    struct program_child child;
    struct event *readable, *ended, *patience;
};

/* ---- the end ---- */

static void door_free(struct door *door)
{
    struct event **events[] = {&door->readable, &door->ended, &door->patience};

    for (size_t i = 0; i < array_size(events); i++) {
        if (*events[i])
            event_free(*events[i]);
    }
    dials_cancel(&door->dials);
    program_end(door->warden, &door->child, NOBODY);
    free(door);
}

void door_drop(struct door *door)
{
    struct warden *warden = door->warden;

    TAILQ_REMOVE(&warden->doors, door, entry);
    if (door->leg)
        door->leg->door = NULL;
    else
        warden->n_doors_ready--;
    door_free(door);
}

/* It is gone, or has to go: its leg hears of it by what it is waiting for. */
static void lose(struct door *door, int error, const char *what)
{
    struct leg *leg = door->leg;
    bool ending = door->ending;

    if (!leg)
        refill_later(door->warden);
    if (!leg || !ending)
        log_error("door%s: %s", leg ? " of a leg" : "", what);
    door_drop(door);
    if (leg && ending)
        leg_door_done(leg);
    else if (leg)
        leg_door_failed(leg, error, what);
}

void doors_close(struct warden *warden)
{
    struct door *door;

    while ((door = TAILQ_FIRST(&warden->doors)))
        door_drop(door);
}

/* ---- it speaks ---- */

/* What a door may tell: its own kinds of events, with reasons that decide nothing. */
static void take_told(struct door *door, const struct seam_message *message)
{
    const struct seam_event *event = message->fixed;
    const char *subject = seam_text(message, event->subject);
    const char *detail = seam_text(message, event->detail);
    enum reason reason = event->reason < REASON_COUNT ? (enum reason)event->reason : REASON_NONE;

    if (event->kind != EVENT_DENIED && event->kind != EVENT_CONNECTED &&
        event->kind != EVENT_DISCONNECTED)
        return;
    if (reason_entry(reason)->colour != COLOUR_NOTE)
        reason = REASON_NONE;
    journal_door(door->leg, (enum event_kind)event->kind, reason, subject, detail);
    leg_tell(door->leg, (enum event_kind)event->kind, reason,
        (int64_t[]){event->a, event->b, event->c}, subject, detail);
}

static void take_dial(struct door *door, const struct seam_message *message)
{
    const struct seam_door_dial *asked = message->fixed;
    const struct request *request = &door->leg->request;
    const struct forward *forward =
        asked->forward < request->n_forwards ? &request->forwards[asked->forward] : NULL;

    if (forward && forward->kind == FORWARD_UNIX)
        dial(door, door->leg, forward->path, asked->serial);
    else
        log_error("door: a dial of no forward");
}

static void take_ready(struct door *door, const struct seam_message *message)
{
    const struct seam_failed *ready = message->fixed;
    const char *subject = seam_text(message, ready->subject);

    if (ready->error == 0) {
        leg_door_ready(door->leg);
        return;
    }
    leg_door_failed(door->leg, ready->error, subject ? subject : "");
}

static void door_readable(evutil_socket_t fd, short what, void *context)
{
    struct door *door = context;
    struct seam_message message;
    uint16_t type;
    int r;

    r = seam_receive(door->child.channel, &message);
    if (r == -EAGAIN)
        return;
    if (r != 0) {
        lose(door, EPIPE, r == SEAM_E_MALFORMED ? "it sent a broken message" : "it ended");
        return;
    }
    type = message.header.type;
    if (type == SEAM_DOOR_TOLD && door->leg)
        take_told(door, &message);
    else if (type == SEAM_DOOR_DIAL && door->leg && !door->ending)
        take_dial(door, &message);
    else if (type == SEAM_DOOR_READY && door->serving && !door->leg->door_ready)
        take_ready(door, &message);
    else
        log_error("door: message of type %u out of turn", type);
    seam_message_done(&message);
}

/* What it said before it died is read before its death is told. */
static void door_ended(evutil_socket_t fd, short what, void *context)
{
    struct door *door = context;
    struct seam_message message;

    while (door->leg && seam_receive(door->child.channel, &message) == 0) {
        if (message.header.type == SEAM_DOOR_TOLD)
            take_told(door, &message);
        seam_message_done(&message);
    }
    lose(door, ECHILD, "it ended");
}

static void end_too_late(evutil_socket_t fd, short what, void *context)
{
    lose(context, ETIMEDOUT, "it did not end");
}

/* ---- making one ---- */

static uint32_t free_uid(const struct warden *warden)
{
    uint8_t used[DOOR_UIDS] = {0};
    const struct door *door;

    TAILQ_FOREACH(door, &warden->doors, entry)
    used[door->uid - DOOR_UID_BASE] = 1;
    for (uint32_t i = 0; i < DOOR_UIDS; i++) {
        if (!used[i])
            return DOOR_UID_BASE + i;
    }
    return 0;
}

static int door_watch(struct door *door)
{
    struct event_base *loop = door->warden->loop;

    door->readable =
        event_new(loop, door->child.channel, EV_READ | EV_PERSIST, door_readable, door);
    door->ended = event_new(loop, door->child.pidfd, EV_READ, door_ended, door);
    door->patience = evtimer_new(loop, end_too_late, door);
    if (!door->readable || !door->ended || !door->patience || event_add(door->readable, NULL) < 0 ||
        event_add(door->ended, NULL) < 0)
        return -ENOMEM;
    return 0;
}

static int door_start(struct warden *warden, struct door **ret)
{
    struct door *door = calloc(1, sizeof(*door));
    char uid[16];
    const char *const argv[] = {"saphan-door", uid, NULL};
    int r;

    if (!door)
        return -ENOMEM;
    door->warden = warden;
    TAILQ_INIT(&door->dials);
    door->child = (struct program_child){.pidfd = -EBADF, .channel = -EBADF};
    door->uid = free_uid(warden);
    if (door->uid == 0) {
        free(door);
        return -EUSERS;
    }
    (void)snprintf(uid, sizeof(uid), "%u", door->uid);
    r = program_start(warden, PROGRAM_DOOR, argv, warden->empty_root, &door->child);
    if (r == 0)
        r = door_watch(door);
    if (r < 0) {
        door_free(door);
        return r;
    }
    TAILQ_INSERT_TAIL(&warden->doors, door, entry);
    warden->n_doors_ready++;
    *ret = door;
    return 0;
}

static bool some_rule_lets_door(const struct policy *policy)
{
    for (size_t i = 0; i < policy->n_rules; i++) {
        if (policy->rules[i].nets & 1U << NET_DOOR)
            return true;
    }
    return false;
}

int doors_refill(struct warden *warden)
{
    struct door *door;
    int r;

    if (warden->n_doors_ready >= warden->options.doors || !some_rule_lets_door(&warden->policy))
        return 0;
    r = door_start(warden, &door);
    return r < 0 ? r : REFILL_E_MORE;
}

static struct door *find_ready(struct warden *warden)
{
    struct door *door;

    TAILQ_FOREACH(door, &warden->doors, entry)
    {
        if (!door->leg)
            return door;
    }
    return NULL;
}

int door_take(struct leg *leg)
{
    struct warden *warden = leg->warden;
    struct door *door = find_ready(warden);
    int r = door ? 0 : door_start(warden, &door);

    if (r < 0)
        return r;
    warden->n_doors_ready--;
    door->leg = leg;
    leg->door = door;
    refill_soon(warden);
    return 0;
}

/* ---- serving ---- */

struct handing {
    int descriptors[SEAM_DESCRIPTORS_MAX]; /* owned from the COUNT-th of the sockets on */
    size_t count;
};

static int32_t hand(struct handing *handing, int fd)
{
    if (fd < 0)
        return -1;
    if (handing->count == SEAM_DESCRIPTORS_MAX) {
        close(fd);
        return -1;
    }
    handing->descriptors[handing->count] = fd;
    return (int32_t)handing->count++;
}

static void put_resolvers(
    const struct options *options, struct seam_writer *writer, struct seam_list *ret)
{
    const char *words[OPTIONS_RESOLVERS_MAX];
    char text[512], *rest = NULL;
    size_t count = 0;

    (void)snprintf(text, sizeof(text), "%s", options->resolvers ? options->resolvers : "");
    for (char *word = strtok_r(text, " ", &rest); word && count < OPTIONS_RESOLVERS_MAX;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    *ret = seam_put_list(writer, words, count);
}

/* Safe to open as root: both are the system's own, and only handed on for reading. */
static void hand_system_files(
    const struct leg *leg, struct handing *handing, struct seam_door *serve)
{
    bool tls = false;

    for (uint32_t i = 0; i < leg->request.n_forwards; i++)
        tls = tls || leg->request.forwards[i].kind == FORWARD_TLS;
    serve->resolv_conf = leg->warden->options.resolvers
                             ? -1
                             : hand(handing, open("/etc/resolv.conf", O_RDONLY | O_CLOEXEC));
    serve->authorities = tls ? hand(handing, open(AUTHORITIES, O_RDONLY | O_CLOEXEC)) : -1;
}

static void put_list(
    struct leg *leg, struct handing *handing, struct seam_writer *writer, struct seam_door *serve)
{
    const struct request *request = &leg->request;

    serve->leg = leg->id;
    serve->n_hosts = request->n_hosts;
    for (uint32_t i = 0; i < request->n_hosts; i++)
        serve->hosts[i] = seam_put_host(writer, &request->hosts[i]);
    serve->n_forwards = request->n_forwards;
    for (uint32_t i = 0; i < request->n_forwards; i++) {
        serve->forwards[i] = seam_put_forward(writer, &request->forwards[i]);
        serve->forwards[i].key = hand(handing, steal_fd(&leg->forward_keys[i]));
        serve->forwards[i].ca = hand(handing, steal_fd(&leg->forward_cas[i]));
    }
    put_resolvers(&leg->warden->options, writer, &serve->resolvers);
    hand_system_files(leg, handing, serve);
}

int door_serve(struct leg *leg, struct seam_message *message)
{
    auto_free struct seam_door *serve = calloc(1, sizeof(*serve));
    struct handing handing = {.count = message->n_descriptors};
    struct seam_writer writer;
    int r;

    if (!serve)
        return -ENOMEM;
    if (message->n_descriptors != leg->request.n_forwards + 2)
        return -EBADMSG;
    memcpy(handing.descriptors, message->descriptors, handing.count * sizeof(int));
    seam_writer_init(&writer, SEAM_DOOR_SERVE, 0);
    put_list(leg, &handing, &writer, serve);
    r = seam_send(leg->door->child.channel, &writer, serve, handing.descriptors, handing.count);
    seam_writer_done(&writer);
    for (size_t i = message->n_descriptors; i < handing.count; i++)
        close(handing.descriptors[i]);
    leg->door->serving = r == 0;
    return r > 0 ? -EPIPE : r;
}

struct dial_list *door_dials(struct door *door)
{
    return &door->dials;
}

int door_send(struct door *door, uint16_t type, const void *fixed, const int *descriptors,
    size_t n_descriptors)
{
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, type, 0);
    r = seam_send(door->child.channel, &writer, fixed, descriptors, n_descriptors);
    seam_writer_done(&writer);
    return r;
}

bool door_change(struct door *door, uint16_t type, const struct host_pattern *pattern)
{
    struct seam_writer writer;
    struct seam_host host;
    int r;

    seam_writer_init(&writer, type, 0);
    host = seam_put_host(&writer, pattern);
    r = seam_send(door->child.channel, &writer, &host, NULL, 0);
    seam_writer_done(&writer);
    return r == 0;
}

void door_end(struct door *door)
{
    static const struct timeval at_most = {.tv_usec = END_PATIENCE_MS * 1000L};
    int r;

    door->ending = true;
    r = door_send(door, SEAM_DOOR_END, &(struct seam_end){0}, NULL, 0);
    /* Whatever becomes of it, the loop tells the leg: not from here. */
    if (r != 0 || event_add(door->patience, &at_most) < 0)
        event_active(door->patience, EV_TIMEOUT, 0);
}
