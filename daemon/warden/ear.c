#include "ear.h"

#include "audit.h"
#include "blockers.h"
#include "clock.h"
#include "descriptor.h"
#include "id_ranges.h"
#include "ledger.h"
#include "leg.h"
#include "legs.h"
#include "log.h"
#include "program.h"
#include "text.h"
#include "undertaker.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define EAR_UID 0x6ffeffffU /* an id that no leg, front, user or service has */
#define RECEIVE_BYTES (8 << 20)
#define CLOCK_STEP_MS 20         /* the kernel stamps records with its coarse clock */
#define KERNEL_PATIENCE_US 30000 /* for kauditd; it never has none while another leg floods it */
#define DETAIL_MAX 3072
#define CHILDREN_MAX 64
#define PAST_MAX 256

struct ear {
    struct warden *warden;
    struct program_child child;
    struct event *readable, *ended, *again;
    struct ear_count count;
    uint32_t kernel_lost; /* as the kernel counted when it was last asked */
    uint64_t born_us;
    struct {
        uint64_t domain, leg;
    } past[PAST_MAX]; /* a ring: the last legs' domains, for what is told after their end */
    size_t next_past;
};

/* ---- telling legs ---- */

static bool is_running(const struct leg *leg)
{
    return leg->recorded && leg->started && leg->state == LEG_RUNNING;
}

/* A note to every running leg.  Telling can end legs of a front that is gone: so by numbers. */
static void tell_all(struct warden *warden, const char *detail)
{
    auto_free uint64_t *ids = calloc(warden->n_legs + 1, sizeof(*ids));
    struct leg *leg;
    size_t count = 0;

    if (!ids)
        return;
    TAILQ_FOREACH(leg, &warden->legs, entry)
    {
        if (is_running(leg) && count < warden->n_legs)
            ids[count++] = leg->id;
    }
    for (size_t i = 0; i < count; i++) {
        leg = legs_find(warden, ids[i]);
        if (leg)
            leg_tell(leg, EVENT_NOTE, REASON_NONE, NULL, NULL, detail);
    }
}

static struct leg *find_by_domain(struct warden *warden, uint64_t domain)
{
    struct leg *leg;

    TAILQ_FOREACH(leg, &warden->legs, entry)
    {
        if (leg->domain == domain)
            return leg;
    }
    return NULL;
}

static struct leg *find_by_maker(struct warden *warden, const struct seam_heard_domain *heard)
{
    struct leg *leg;

    TAILQ_FOREACH(leg, &warden->legs, entry)
    {
        if (leg->program_pid != 0 && leg->program_pid == heard->pid &&
            leg->program_uid == heard->uid && heard->at_ms + CLOCK_STEP_MS >= leg->given_ms)
            return leg;
    }
    return NULL;
}

/* The kernel counts every denial of a domain, and may have had no room for the records of some.
 * That is known only when the domain is gone, which is mostly after the verdict. */
static void domain_gone(struct ear *ear, const struct seam_heard_domain *heard)
{
    uint64_t lost = heard->denials > heard->heard ? heard->denials - heard->heard : 0;
    struct seam_event event = {.at_ms = clock_wall_ms(), .kind = EVENT_NOTE};
    char detail[160];

    ear->count.lost += lost;
    for (size_t i = 0; lost > 0 && i < PAST_MAX; i++) {
        if (ear->past[i].domain == heard->domain)
            event.leg = ear->past[i].leg;
    }
    if (event.leg == 0)
        return;
    (void)snprintf(detail, sizeof(detail),
        "of %" PRIu64 " denials %" PRIu64 " were not told one by one: the kernel had no room for "
        "their records",
        heard->denials, lost);
    ledger_event(ear->warden->ledger, &event, NULL, NULL, detail);
}

static void take_domain(struct ear *ear, const struct seam_message *message)
{
    const struct seam_heard_domain *heard = message->fixed;
    struct leg *leg;

    if (heard->domain == 0)
        return;
    if (heard->state == HEARD_DOMAIN_DEALLOCATED) {
        domain_gone(ear, heard);
        return;
    }
    leg = find_by_maker(ear->warden, heard);
    /* The first domain of the program is the leg's own; it cannot make another (nesting). */
    if (!leg || leg->domain != 0)
        return;
    leg->domain = heard->domain;
    ear->past[ear->next_past].domain = heard->domain;
    ear->past[ear->next_past].leg = leg->id;
    ear->next_past = (ear->next_past + 1) % PAST_MAX;
}

static void say_denial(
    const struct seam_message *message, const struct seam_heard *heard, char detail[DETAIL_MAX])
{
    const char *comm = seam_text(message, heard->comm), *exe = seam_text(message, heard->exe);
    const char *dev = seam_text(message, heard->dev);
    char blockers[BLOCKERS_TEXT_MAX];
    size_t at;

    blockers_format(heard->blockers, blockers);
    at = (size_t)snprintf(detail, DETAIL_MAX, "landlock %s", blockers);
    if (comm)
        at += (size_t)snprintf(detail + at, DETAIL_MAX - at, " comm=%.80s", comm);
    if (exe)
        at += (size_t)snprintf(detail + at, DETAIL_MAX - at, " exe=%.1300s", exe);
    if (heard->pid)
        at += (size_t)snprintf(detail + at, DETAIL_MAX - at, " host-pid=%d", heard->pid);
    if (dev)
        (void)snprintf(detail + at, DETAIL_MAX - at, " dev=%.80s ino=%" PRIu64, dev, heard->ino);
}

static void take_denial(struct ear *ear, const struct seam_message *message)
{
    const struct seam_heard *heard = message->fixed;
    const char *object = seam_text(message, heard->object);
    struct leg *leg = heard->domain ? find_by_domain(ear->warden, heard->domain) : NULL;
    char detail[DETAIL_MAX];

    if (!leg) {
        ear->count.unjoined++;
        return;
    }
    ear->count.heard++;
    say_denial(message, heard, detail);
    leg_tell(leg, EVENT_DENIED, REASON_NONE,
        (int64_t[]){(int64_t)heard->count, heard->first_ms, heard->last_ms},
        heard->further ? "(further paths)"
        : object       ? object
                       : "(no path)",
        detail);
}

static void take_lost(struct ear *ear, const struct seam_message *message)
{
    const struct seam_heard_lost *lost = message->fixed;

    ear->count.lost += lost->overruns + lost->malformed;
    log_warning("ear: denials were lost: the socket overran %" PRIu64 " times, %" PRIu64
                " records were of an unknown form",
        lost->overruns, lost->malformed);
    tell_all(ear->warden, "some denials were not told: the kernel's records of them were lost");
}

/* Whoever did it: the rung is what holds now, not what held at the start. */
static void take_change(struct ear *ear)
{
    struct rung *rung = &ear->warden->machine.rungs[RUNG_LANDLOCK_AUDIT];
    int enabled = audit_enabled();

    if (enabled == 1 || rung->state != RUNG_HOLDS)
        return;
    rung->state = RUNG_REFUSED;
    rung->error = enabled < 0 ? -enabled : ENODATA;
    (void)snprintf(
        rung->detail, sizeof(rung->detail), "the audit system was switched off while saphand ran");
    log_warning("rung %s: refused: %s", rung_slug(RUNG_LANDLOCK_AUDIT), rung->detail);
    tell_all(ear->warden, "denials are not told any more: the audit system was switched off");
}

/* ---- the end of a leg ---- */

/* A domain whose every record was lost has none of its end either: only the kernel's own count
 * tells that some were. */
static void tell_lost_meanwhile(struct leg *leg, uint32_t lost)
{
    char detail[160];

    leg->warden->ear->kernel_lost = lost;
    if (lost == leg->audit_lost)
        return;
    (void)snprintf(detail, sizeof(detail),
        "the kernel had no room for %u audit records since it was last asked: denials of this leg "
        "may be among them",
        lost - leg->audit_lost);
    leg->audit_lost = lost;
    leg_tell(leg, EVENT_NOTE, REASON_NONE, NULL, NULL, detail);
}

static void heard_out(struct leg *leg)
{
    leg->hearing = false;
    if (leg->patience)
        (void)event_del(leg->patience);
    leg_heard_out(leg);
}

static void say_unheard(struct leg *leg)
{
    leg_tell(leg, EVENT_NOTE, REASON_NONE, NULL, NULL,
        "its last denials may not be told: the ear did not answer in time");
}

static void patience_ends(evutil_socket_t fd, short what, void *context)
{
    say_unheard(context);
    heard_out(context);
}

static void take_heard_out(struct ear *ear, uint64_t pid)
{
    struct leg *leg;

    TAILQ_FOREACH(leg, &ear->warden->legs, entry)
    {
        if (leg->hearing && (uint64_t)leg->program_pid == pid) {
            heard_out(leg);
            return;
        }
    }
}

static int ask_ear(struct leg *leg)
{
    static const struct timeval patience = {.tv_sec = EAR_PATIENCE_S};
    struct seam_end ask = {.value = (uint64_t)leg->program_pid};
    struct seam_writer writer;
    int r;

    if (event_assign(leg->patience, leg->warden->loop, -1, 0, patience_ends, leg) < 0 ||
        event_add(leg->patience, &patience) < 0)
        return -ENOMEM;
    seam_writer_init(&writer, SEAM_HEAR_OUT, 0);
    r = seam_send(leg->warden->ear->child.channel, &writer, &ask, NULL, 0);
    seam_writer_done(&writer);
    return r;
}

/* Whether the kernel itself has records that it has sent to nobody yet.  LEG's processes are gone,
 * so what it lost of them is known too.  The kernel answers by a thread: 0.14 ms, so not before a
 * start. */
static bool kernel_holds_some(struct leg *leg)
{
    struct audit_state state;

    if (audit_read(&state) < 0)
        return false;
    tell_lost_meanwhile(leg, state.lost);
    return state.backlog > 0;
}

/* Where somebody else keeps the kernel telling without end, the leg does not wait for that. */
static void kernel_waited_for(evutil_socket_t fd, short what, void *context)
{
    static const struct timeval again = {.tv_usec = 1000};
    struct leg *leg = context;
    bool in_time = clock_monotonic_us() - leg->gone_us < KERNEL_PATIENCE_US;

    if (in_time && kernel_holds_some(leg) && event_add(leg->patience, &again) == 0)
        return;
    if (ask_ear(leg) != 0)
        patience_ends(-1, 0, leg);
}

bool ear_hear_out(struct leg *leg)
{
    static const struct timeval soon = {.tv_usec = 1000};
    struct ear *ear = leg->warden->ear;
    int r;

    if (!ear || !ear->readable || leg->program_pid == 0)
        return false;
    leg->patience = evtimer_new(leg->warden->loop, kernel_waited_for, leg);
    if (!leg->patience)
        return false;
    r = kernel_holds_some(leg) ? event_add(leg->patience, &soon) : ask_ear(leg);
    leg->hearing = r == 0;
    if (!leg->hearing)
        say_unheard(leg);
    return leg->hearing;
}

/* ---- who a leg's program is ---- */

/* The stub waits in vfork until the program's exec, and has no other child then: its one child is
 * the program.  The stub is ours and not reaped, so its number is still its. */
static pid_t only_child(pid_t stub)
{
    auto_free char *text = NULL;
    char path[64];
    uint64_t pid;
    size_t length;

    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", stub, stub);
    if (descriptor_read_file(AT_FDCWD, path, CHILDREN_MAX, &text) < 0)
        return 0;
    length = strlen(text);
    if (length > 0 && text[length - 1] == ' ')
        text[length - 1] = '\0';
    return text_parse_uint(text, INT32_MAX, &pid) == 0 ? (pid_t)pid : 0;
}

void ear_learn(struct leg *leg)
{
    if (!leg->warden->ear)
        return;
    leg->audit_lost = leg->warden->ear->kernel_lost;
    leg->program_pid = only_child(leg->slot->pid);
    leg->program_uid = leg->slot->id_base + leg->peer.uid;
}

/* ---- the process ---- */

static void let_go(struct ear *ear)
{
    if (ear->readable)
        event_free(ear->readable);
    if (ear->ended)
        event_free(ear->ended);
    ear->readable = ear->ended = NULL;
    program_end(ear->warden, &ear->child, NOBODY);
}

static void start_again(evutil_socket_t fd, short what, void *context);

static struct leg *find_hearing(struct warden *warden)
{
    struct leg *leg;

    TAILQ_FOREACH(leg, &warden->legs, entry)
    {
        if (leg->hearing)
            return leg;
    }
    return NULL;
}

/* What it had not told is lost; those that wait for its word wait no more. */
static void lost_it(struct ear *ear)
{
    static const struct timeval soon = {.tv_sec = 1};
    struct leg *leg;

    if (!ear->readable)
        return;
    let_go(ear);
    ear->count.lost++;
    log_error("ear: it ended; it is started again");
    tell_all(ear->warden, "some denials were not told: the ear was started again");
    while ((leg = find_hearing(ear->warden))) /* each can end others with it */
        heard_out(leg);
    if (clock_monotonic_us() - ear->born_us > 1000000)
        start_again(-1, 0, ear);
    else
        (void)event_add(ear->again, &soon);
}

static void ear_readable(evutil_socket_t fd, short what, void *context)
{
    struct ear *ear = context;
    struct seam_message message;
    int r = seam_receive(ear->child.channel, &message);

    if (r == -EAGAIN)
        return;
    if (r != 0) {
        lost_it(ear);
        return;
    }
    switch (message.header.type) {
    case SEAM_HEARD:
        take_denial(ear, &message);
        break;
    case SEAM_HEARD_DOMAIN:
        take_domain(ear, &message);
        break;
    case SEAM_HEARD_LOST:
        take_lost(ear, &message);
        break;
    case SEAM_HEARD_CHANGE:
        take_change(ear);
        break;
    case SEAM_HEARD_OUT:
        take_heard_out(ear, ((const struct seam_end *)message.fixed)->value);
        break;
    default:
        log_error("ear: a message of type %u", message.header.type);
    }
    seam_message_done(&message);
}

static void ear_ended(evutil_socket_t fd, short what, void *context)
{
    lost_it(context);
}

/* Opened with our CAP_AUDIT_READ, for reading alone, and locked to the records that are Landlock's
 * or say whose call it was: all that whoever owns the ear will ever hear. */
static int open_listener(int *ret)
{
    static const uint16_t types[] = {AUDIT_RECORD_LANDLOCK_ACCESS, AUDIT_RECORD_LANDLOCK_DOMAIN,
        AUDIT_RECORD_SYSCALL, AUDIT_RECORD_END, AUDIT_RECORD_CONFIG_CHANGE};
    auto_close int fd = audit_listen();
    const int size = RECEIVE_BYTES;
    int r;

    if (fd < 0)
        return fd;
    r = audit_listen_only(fd, types, array_size(types));
    if (r < 0)
        return r;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
        return -errno;
    *ret = steal_fd(&fd);
    return 0;
}

static int start(struct ear *ear)
{
    struct warden *warden = ear->warden;
    auto_close int listener = -EBADF;
    char uid[16], first[16], last[16];
    const char *const argv[] = {program_name(PROGRAM_EAR), uid, first, last, NULL};
    int r = open_listener(&listener);

    if (r < 0)
        return r;
    (void)snprintf(uid, sizeof(uid), "%u", EAR_UID);
    (void)snprintf(first, sizeof(first), "%u", warden->id_first);
    (void)snprintf(
        last, sizeof(last), "%u", warden->id_first + warden->id_count * ID_RANGE_SIZE - 1);
    r = program_start_with(
        warden, PROGRAM_EAR, argv, (int[]){listener, warden->empty_root}, 2, &ear->child);
    if (r < 0)
        return r;
    ear->born_us = clock_monotonic_us();
    ear->readable =
        event_new(warden->loop, ear->child.channel, EV_READ | EV_PERSIST, ear_readable, ear);
    ear->ended = event_new(warden->loop, ear->child.pidfd, EV_READ, ear_ended, ear);
    if (!ear->readable || !ear->ended || event_add(ear->readable, NULL) < 0 ||
        event_add(ear->ended, NULL) < 0) {
        let_go(ear);
        return -ENOMEM;
    }
    return 0;
}

static void start_again(evutil_socket_t fd, short what, void *context)
{
    static const struct timeval later = {.tv_sec = 1};
    struct ear *ear = context;
    int r = start(ear);

    if (r == 0)
        return;
    log_error("ear: %s", strerror(-r));
    (void)event_add(ear->again, &later);
}

int ear_open(struct warden *warden)
{
    struct audit_state state;
    struct ear *ear;
    int r;

    if (warden->machine.rungs[RUNG_LANDLOCK_AUDIT].state != RUNG_HOLDS)
        return 0;
    r = audit_read(&state);
    if (r < 0)
        return r;
    ear = calloc(1, sizeof(*ear));
    if (!ear)
        return -ENOMEM;
    ear->warden = warden;
    ear->kernel_lost = state.lost;
    ear->child = (struct program_child){.pidfd = -EBADF, .channel = -EBADF};
    warden->ear = ear;
    ear->again = evtimer_new(warden->loop, start_again, ear);
    return ear->again ? start(ear) : -ENOMEM;
}

void ear_close(struct warden *warden)
{
    struct ear *ear = warden->ear;

    if (!ear)
        return;
    warden->ear = NULL;
    let_go(ear);
    if (ear->again)
        event_free(ear->again);
    free(ear);
}

bool ear_counts(const struct warden *warden, struct ear_count *ret)
{
    *ret = warden->ear ? warden->ear->count : (struct ear_count){0};
    return warden->ear && warden->ear->readable;
}
