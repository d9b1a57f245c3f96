#include "slots.h"

#include "cgroup.h"
#include "devices.h"
#include "id_ranges.h"
#include "legs.h"
#include "log.h"
#include "namespace.h"
#include "refill.h"
#include "zygotes.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif

#define NAMESPACES                                                                                 \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

#define CLOSE_WAIT_MS 1000

static const struct timeval leave_again = {.tv_usec = 5000};

/* ---- the end of a slot ---- */

static void slot_free(struct slot *slot)
{
    struct event **events[] = {&slot->readable, &slot->ended, &slot->leaving};

    for (size_t i = 0; i < array_size(events); i++) {
        if (*events[i])
            event_free(*events[i]);
    }
    if (slot->has_ids)
        id_range_return(slot->warden, slot->id_base);
    close_fd(&slot->cgroup);
    close_fd(&slot->pidfd);
    close_fd(&slot->user_namespace);
    close_fd(&slot->channel);
    close_fd(&slot->devices);
    free(slot);
}

static bool try_remove(struct slot *slot)
{
    int r;

    if (slot->cgroup < 0)
        return true;
    r = cgroup_remove(slot->warden->cgroup_base, slot->cgroup_name);
    if (r == -EBUSY) {
        (void)cgroup_kill(slot->cgroup);
        return false;
    }
    if (r < 0 && r != -ENOENT)
        log_error("cgroup %s: cannot be removed: %s", slot->cgroup_name, strerror(-r));
    return true;
}

/* The stub is our child: when its pidfd is readable it is dead, and with it, being pid 1, all that
 * its pid namespace held.  False while the kernel still holds it. */
static bool reap(struct slot *slot)
{
    siginfo_t info = {0};

    if (slot->pidfd < 0)
        return true;
    if (waitid(P_PIDFD, (id_t)slot->pidfd, &info, WEXITED | WNOHANG) == 0 && info.si_pid == 0)
        return false;
    close_fd(&slot->pidfd);
    return true;
}

static void leave_later(evutil_socket_t fd, short what, void *context)
{
    struct slot *slot = context;

    if (reap(slot) && try_remove(slot)) {
        TAILQ_REMOVE(&slot->warden->slots, slot, entry);
        slot_free(slot);
    } else {
        (void)event_add(slot->leaving, &leave_again);
    }
}

static void kill_all(struct slot *slot)
{
    if (slot->pidfd < 0)
        return;
    if (slot->cgroup >= 0)
        (void)cgroup_kill(slot->cgroup);
    (void)kill(slot->pid, SIGKILL); /* ours and not reaped: the number is still its */
}

void slot_leave(struct slot *slot)
{
    zygote_forget(slot->warden->stub_zygote, slot);
    if (slot->state == SLOT_WAITING)
        slot->warden->n_slots_ready--;
    if (slot->state != SLOT_TAKEN)
        refill_later(slot->warden);
    slot->state = SLOT_LEAVING;
    slot->leg = NULL;
    if (slot->readable)
        (void)event_del(slot->readable);
    if (slot->ended)
        (void)event_del(slot->ended);
    close_fd(&slot->channel);
    kill_all(slot);
    if (!reap(slot) || !try_remove(slot)) {
        slot->leaving = evtimer_new(slot->warden->loop, leave_later, slot);
        if (slot->leaving && event_add(slot->leaving, &leave_again) == 0)
            return;
    }
    TAILQ_REMOVE(&slot->warden->slots, slot, entry);
    slot_free(slot);
}

/* ---- the stub speaks ---- */

static void give(struct slot *slot, struct leg *leg)
{
    if (slot->state == SLOT_WAITING)
        slot->warden->n_slots_ready--;
    slot->state = SLOT_TAKEN;
    slot->leg = leg;
    refill_soon(slot->warden);
    legs_slot_given(leg, slot);
}

static void stub_waits(struct slot *slot)
{
    slot->state = SLOT_WAITING;
    slot->warden->n_slots_ready++;
    if (slot->leg)
        give(slot, slot->leg);
}

static void slot_failed(struct slot *slot, const char *what)
{
    struct leg *leg = slot->leg;

    log_error("%s: %s", slot->cgroup_name, what);
    slot_leave(slot);
    if (leg)
        legs_slot_failed(leg, what);
}

static void stub_readable(evutil_socket_t fd, short what, void *context)
{
    struct slot *slot = context;
    struct seam_message message;
    int r;

    r = seam_receive(slot->channel, &message);
    if (r == -EAGAIN)
        return;
    if (r != 0) {
        /* The pidfd tells the rest: a stub that closed its channel is ending. */
        (void)event_del(slot->readable);
        if (r != SEAM_E_CLOSED)
            (void)cgroup_kill(slot->cgroup);
        return;
    }
    if (slot->state == SLOT_TAKEN) {
        legs_stub_says(slot->leg, &message);
        return;
    }
    if (slot->state == SLOT_STARTING && message.header.type == SEAM_WAITING) {
        seam_message_done(&message);
        stub_waits(slot);
        return;
    }
    if (message.header.type == SEAM_FAILED) {
        const struct seam_failed *failed = message.fixed;

        log_error("%s: step %u: %s: %s", slot->cgroup_name, failed->step,
            seam_text(&message, failed->subject), strerror(failed->error));
    }
    seam_message_done(&message);
    slot_failed(slot, "the stub did not come up");
}

/* What a stub said before it died is read before its death is told. */
static void hear_out(struct slot *slot)
{
    struct seam_message message;

    while (seam_receive(slot->channel, &message) == 0)
        legs_stub_says(slot->leg, &message);
}

static void stub_ended(evutil_socket_t fd, short what, void *context)
{
    struct slot *slot = context;

    if (slot->state == SLOT_TAKEN) {
        hear_out(slot);
        (void)reap(slot);
        legs_stub_ended(slot->leg);
        return;
    }
    slot_failed(slot, "the stub ended while it waited");
}

/* ---- making one ---- */

static int watch(struct slot *slot)
{
    struct event_base *loop = slot->warden->loop;

    slot->readable = event_new(loop, slot->channel, EV_READ | EV_PERSIST, stub_readable, slot);
    slot->ended = event_new(loop, slot->pidfd, EV_READ, stub_ended, slot);
    if (!slot->readable || !slot->ended || event_add(slot->readable, NULL) < 0 ||
        event_add(slot->ended, NULL) < 0)
        return -ENOMEM;
    return 0;
}

static int say_mapped(struct slot *slot)
{
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, SEAM_MAPPED, 0);
    r = seam_send(slot->channel, &writer, &(struct seam_end){0}, NULL, 0);
    seam_writer_done(&writer);
    return r > 0 ? -EPIPE : r;
}

/* Our own child that nobody has reaped: PID is still its. */
static int raise_child(struct slot *slot)
{
    int r = namespace_map_ids(slot->pid, slot->id_base, &slot->user_namespace);

    if (r == 0)
        r = say_mapped(slot);
    if (r == 0)
        r = devices_make(slot->id_base, &slot->devices);
    return r == 0 ? watch(slot) : r;
}

static void slot_born(void *context, int error, pid_t pid, int pidfd)
{
    struct slot *slot = context;
    int r = -error;

    slot->pid = pid;
    slot->pidfd = pidfd;
    if (error == 0)
        r = raise_child(slot);
    if (r < 0)
        slot_failed(slot, strerror(-r));
}

static int order(struct slot *slot)
{
    const struct seam_bear bear = {
        .namespaces = (uint64_t)NAMESPACES | (slot->host_network ? 0 : (uint64_t)CLONE_NEWNET)};
    auto_close int theirs = -EBADF;
    int pair[2], r;

    r = seam_channel_pair(pair);
    if (r < 0)
        return r;
    slot->channel = pair[0];
    theirs = pair[1];
    if (fcntl(slot->channel, F_SETFL, O_NONBLOCK) < 0)
        return -errno;
    return zygote_bear(slot->warden->stub_zygote, &bear, theirs, slot->cgroup, slot_born, slot);
}

static int build(struct slot *slot)
{
    struct warden *warden = slot->warden;
    int r;

    r = id_range_take(warden, &slot->id_base);
    if (r < 0)
        return r;
    slot->has_ids = true;
    (void)snprintf(slot->cgroup_name, sizeof(slot->cgroup_name), "slot-%llu",
        (unsigned long long)++warden->slot_serial);
    r = cgroup_make(warden->cgroup_base, slot->cgroup_name, &slot->cgroup);
    return r < 0 ? r : order(slot);
}

static int make(struct warden *warden, bool host_network, struct slot **ret)
{
    struct slot *slot = calloc(1, sizeof(*slot));
    int r;

    if (!slot)
        return -ENOMEM;
    *slot = (struct slot){.warden = warden,
        .state = SLOT_STARTING,
        .host_network = host_network,
        .cgroup = -EBADF,
        .pidfd = -EBADF,
        .user_namespace = -EBADF,
        .channel = -EBADF,
        .devices = -EBADF};
    TAILQ_INSERT_TAIL(&warden->slots, slot, entry);
    r = build(slot);
    if (r < 0) {
        log_error("slot: %s", strerror(-r));
        slot_leave(slot);
        return r;
    }
    *ret = slot;
    return 0;
}

int slots_refill(struct warden *warden)
{
    struct slot *slot;
    uint32_t coming = 0;
    int r;

    TAILQ_FOREACH(slot, &warden->slots, entry)
    coming += !slot->leg && (slot->state == SLOT_STARTING || slot->state == SLOT_WAITING);
    if (coming >= warden->options.slots)
        return 0;
    r = make(warden, false, &slot);
    return r < 0 ? r : REFILL_E_MORE;
}

int slot_take(struct warden *warden, struct leg *leg, bool host_network)
{
    struct slot *slot, *starting = NULL;
    int r;

    TAILQ_FOREACH(slot, &warden->slots, entry)
    {
        if (slot->host_network != host_network || slot->leg)
            continue;
        if (slot->state == SLOT_WAITING) {
            give(slot, leg);
            return 0;
        }
        if (slot->state == SLOT_STARTING && !starting)
            starting = slot;
    }
    if (!starting) {
        r = make(warden, host_network, &starting);
        if (r < 0)
            return r;
    }
    starting->leg = leg;
    return 0;
}

void slots_forget(struct warden *warden, const struct leg *leg)
{
    struct slot *slot;

    TAILQ_FOREACH(slot, &warden->slots, entry)
    {
        if (slot->leg == leg)
            slot->leg = NULL;
    }
}

bool slot_put_down(struct slot *slot)
{
    struct pollfd ended = {.fd = slot->pidfd, .events = POLLIN};

    kill_all(slot);
    if (slot->pidfd >= 0)
        (void)poll(&ended, 1, CLOSE_WAIT_MS);
    return reap(slot);
}

void slots_close(struct warden *warden)
{
    struct slot *slot, *next;

    for (slot = TAILQ_FIRST(&warden->slots); slot; slot = next) {
        next = TAILQ_NEXT(slot, entry);
        if (!slot->leaving)
            slot_leave(slot);
    }
    while ((slot = TAILQ_FIRST(&warden->slots))) {
        (void)slot_put_down(slot); /* each gets a moment, no more */
        (void)try_remove(slot);
        TAILQ_REMOVE(&warden->slots, slot, entry);
        slot_free(slot);
    }
}
