/* legs.c - the life of a leg, from the question to its first process's end.
 *
 *   asked -> paths opened -> named -> admitted -> slot -> row -> plan -> READY -> GO -> STARTED
 *
 * Each step is a function that begins the next; what fails before GO is a refusal, after it a
 * verdict (endings.c). */
#include "legs.h"

#include "accounts.h"
#include "areas.h"
#include "cells.h"
#include "cgroup.h"
#include "cgroup_bpf.h"
#include "clock.h"
#include "doors.h"
#include "ear.h"
#include "ledger.h"
#include "leg.h"
#include "leg_image.h"
#include "log.h"
#include "placeholders.h"
#include "refill.h"
#include "steps.h"
#include "text.h"
#include "usage.h"
#include "versions.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void built(struct leg *leg)
{
    if (leg->building)
        leg->warden->n_building--;
    leg->building = false;
}

void leg_free(struct leg *leg)
{
    TAILQ_REMOVE(&leg->warden->legs, leg, entry);
    leg->warden->n_legs--;
    if (leg->front)
        leg->front->n_open--;
    leg_row_forget(leg);
    built(leg);
    if (leg->errand)
        errand_cancel(leg->errand);
    if (leg->slot)
        slot_leave(leg->slot);
    else
        slots_forget(leg->warden, leg);
    if (leg->door)
        door_drop(leg->door);
    if (leg->wall)
        event_free(leg->wall);
    if (leg->patience)
        event_free(leg->patience);
    for (size_t i = 0; i < GRANTS_MAX; i++) {
        close_fd(&leg->grant_fds[i]);
        free(leg->grant_paths[i]);
    }
    for (size_t i = 0; i < FORWARDS_MAX; i++) {
        close_fd(&leg->forward_keys[i]);
        close_fd(&leg->forward_cas[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        close_fd(&leg->stream_fds[i]);
        close_fd(&leg->stream_reads[i]);
    }
    decision_done(&leg->decision);
    seam_message_done(&leg->ask);
    free(leg->home);
    free(leg->user);
    free(leg->rule_name);
    version_given_up(leg, "the leg that was to say it could not be run");
    leg_vendor_done(leg);
    leg_image_done(leg);
    refill_now(leg->warden);
    if (leg->warden->stopping && leg->warden->n_legs == 0)
        (void)event_base_loopbreak(leg->warden->loop); /* the last one that the stop waited for */
    free(leg);
}

/* ---- building ---- */

void leg_go_ahead(struct leg *leg)
{
    struct seam_end go = {0};
    struct seam_writer writer;
    int r;

    if (!leg->ready || !leg->recorded || !leg->stamped || !leg->door_ready || leg->gone_ahead)
        return;
    seam_writer_init(&writer, SEAM_GO, 0);
    r = seam_send(leg->slot->channel, &writer, &go, NULL, 0);
    seam_writer_done(&writer);
    if (r != 0)
        (void)cgroup_kill(leg->slot->cgroup); /* its end is told by its pidfd, as every end is */
    else
        leg->gone_ahead = true;
    built(leg);
}

/* The most that pids.max takes: PID_MAX_LIMIT, and no kernel has more tasks. */
#define PIDS_MOST 4194304U

static int set_cgroup_limits(struct leg *leg, struct fault *fault)
{
    const struct limits *limits = &leg->decision.limits;
    uint32_t controllers = leg->warden->cgroup_controllers;
    int r = 0;

    if (limits->tasks && controllers & CGROUP_CONTROLLER_PIDS)
        r = cgroup_limit(leg->slot->cgroup, "pids.max",
            limits->tasks < PIDS_MOST ? limits->tasks + 1 : PIDS_MOST); /* and the stub */
    if (r == 0 && limits->memory && controllers & CGROUP_CONTROLLER_MEMORY) {
        r = cgroup_limit(leg->slot->cgroup, "memory.max", limits->memory);
        if (r == 0) {
            int swap = cgroup_limit(leg->slot->cgroup, "memory.swap.max", 0);

            r = swap == -ENOENT ? 0 : swap; /* a kernel without swap accounting has no swap */
        }
    }
    if (r == 0 && limits->cpu_percent && controllers & CGROUP_CONTROLLER_CPU)
        r = cgroup_limit_cpu(leg->slot->cgroup, limits->cpu_percent);
    if (r == 0 && leg->decision.net == NET_CGROUP_BPF)
        r = cgroup_bpf_cut_internet(leg->slot->cgroup);
    return r < 0 ? fault_set(fault, STEP_CGROUP_LIMITS, -r, "%s", leg->slot->cgroup_name) : 0;
}

/* Before the start: the building took too long (a file system that hangs).  After it: wall time. */
static void time_is_up(evutil_socket_t fd, short what, void *context)
{
    struct leg *leg = context;

    if (leg->started) {
        leg_kill(leg, REASON_WALL_TIME);
        return;
    }
    if (leg->build_fault.step == 0)
        (void)fault_set(&leg->build_fault, STEP_SLOT, ETIMEDOUT, "building took too long");
    (void)cgroup_kill(leg->slot->cgroup);
}

static int start_build_deadline(struct leg *leg, struct fault *fault)
{
    static const struct timeval at_most = {.tv_sec = 20};

    leg->wall = evtimer_new(leg->warden->loop, time_is_up, leg);
    if (!leg->wall || event_add(leg->wall, &at_most) < 0)
        return fault_set(fault, STEP_SLOT, ENOMEM, "timer");
    return 0;
}

/* The stub builds while the ledger commits; only a leg whose stub may put placeholders on disk
 * waits for the commit first: rows before effects.  While others are built the row waits for
 * theirs, or until the leg is READY. */
void legs_slot_given(struct leg *leg, struct slot *slot)
{
    bool row_first = placeholders_may_be_made(leg);
    struct fault fault = {0};
    int r;

    leg->slot = slot;
    leg->given_ms = clock_wall_ms();
    if (leg->ending.killed != REASON_NONE) { /* the stop came while the slot was made */
        leg_refuse(leg, leg->ending.killed, "before the program was started");
        return;
    }
    if (row_first && leg_row_write(leg) < 0) {
        leg_refuse(leg, REASON_LEDGER_FAILED, "the row could not be written");
        return;
    }
    r = start_build_deadline(leg, &fault);
    if (r == 0)
        r = set_cgroup_limits(leg, &fault);
    if (r == 0)
        r = leg_send_plan(leg, &fault);
    if (r < 0) {
        leg_fail(leg, fault.step, fault.error, fault.subject);
        return;
    }
    leg->building = true;
    if (leg->warden->n_building++ > 0 && !row_first) {
        leg_row_wait(leg);
        return;
    }
    if (!row_first && leg_row_write(leg) < 0) {
        leg_refuse(leg, REASON_LEDGER_FAILED, "the row could not be written");
        return;
    }
    if (leg_tell_accepted(leg))
        leg_go_ahead(leg);
}

void legs_slot_failed(struct leg *leg, const char *what)
{
    leg->slot = NULL;
    leg_fail(leg, STEP_SLOT, EIO, what);
}

/* The stub may be putting placeholders on disk just now: what it was about is refused, and they are
 * taken away, when it is dead (legs_stub_ended). */
void leg_fail_when_dead(struct leg *leg)
{
    const struct fault *fault = &leg->build_fault;

    if (leg->slot)
        (void)cgroup_kill(leg->slot->cgroup);
    else
        leg_fail(leg, fault->step, fault->error, fault->subject);
}

static void stamped_before(void *context, int result)
{
    struct leg *leg = context;

    leg->errand = NULL;
    if (result < 0) {
        (void)fault_set(
            &leg->build_fault, STEP_CHECK, -result, "the artefacts' state before the leg");
        leg_fail_when_dead(leg);
        return;
    }
    leg->stamped = true;
    leg_go_ahead(leg);
}

static void admitted(struct leg *leg)
{
    enum reason reason = REASON_NONE;
    char detail[REFUSAL_DETAIL_MAX];
    int r;

    leg->rule_name = strdup(leg->decision.rule->name);
    leg_vendor_admitted(leg);
    leg->id = leg->warden->next_leg++;
    leg->warden->legs_since_start++;
    if (leg_open_streams(leg, &reason, detail) < 0) {
        leg_refuse(leg, reason, detail);
        return;
    }
    leg->stamped = leg->decision.n_artefacts == 0;
    if (!leg->stamped) {
        r = leg_stamp(leg, false, stamped_before);
        if (r < 0) {
            leg_fail(leg, STEP_CHECK, -r, "the checker");
            return;
        }
    }
    leg->door_ready = leg->decision.net != NET_DOOR;
    if (!leg->door_ready) {
        r = door_take(leg);
        if (r < 0) {
            leg_fail(leg, STEP_DOOR, -r, "starting it");
            return;
        }
    }
    usage_count(leg->warden, leg->peer.uid);
    placeholders_intend(leg);
    r = slot_take(leg->warden, leg, net_is_hosts(leg->decision.net));
    if (r < 0)
        leg_fail(leg, STEP_SLOT, -r, "a slot");
}

void leg_resolved(struct leg *leg)
{
    if (leg->ending.killed != REASON_NONE) { /* the stop came while the opener looked */
        leg_refuse(leg, leg->ending.killed, "before the program was started");
        return;
    }
    if (leg_name_grants(leg) == 0)
        leg_look_at_vendor(leg);
}

void leg_vendor_known(struct leg *leg)
{
    struct usage usage;

    if (leg->ending.killed != REASON_NONE) { /* the stop came while the opener looked */
        leg_refuse(leg, leg->ending.killed, "before the program was started");
        return;
    }
    cells_look_up(leg);
    usage_of(leg->warden, leg->peer.uid, &usage);
    admit(&leg->request, &leg->peer, &leg->warden->policy, &leg->warden->machine, &usage,
        &leg->decision);
    if (leg->decision.n_refusals > 0)
        leg_refuse_decided(leg);
    else
        admitted(leg);
}

/* ---- asked ---- */

static struct leg *leg_new(struct warden *warden, const struct peer *peer,
    const struct account *account, struct seam_message *message)
{
    struct leg *leg = calloc(1, sizeof(*leg));

    if (!leg)
        return NULL;
    leg->warden = warden;
    leg->state = LEG_BUILDING;
    leg->request_number = message->header.request;
    leg->peer = *peer;
    leg->home = account->home ? strdup(account->home) : NULL;
    leg->peer.home = leg->home;
    leg->user = account->name ? strdup(account->name) : NULL;
    leg->ask = *message;
    leg->run = message->fixed;
    leg->asked_ms = clock_wall_ms();
    leg->asked_us = clock_monotonic_us();
    leg->ending.wait_status = -1;
    leg->vendor.program.file = -EBADF;
    for (size_t i = 0; i < GRANTS_MAX; i++)
        leg->grant_fds[i] = -EBADF;
    for (size_t i = 0; i < FORWARDS_MAX; i++)
        leg->forward_keys[i] = leg->forward_cas[i] = -EBADF;
    for (size_t i = 0; i < 3; i++)
        leg->stream_fds[i] = leg->stream_reads[i] = -EBADF;
    TAILQ_INSERT_TAIL(&warden->legs, leg, entry);
    warden->n_legs++;
    return leg;
}

static void ask(struct leg *leg)
{
    int r;

    if (leg->warden->stopping) {
        leg_refuse(leg, REASON_STOPPING, "");
        return;
    }
    if (leg_read_request(leg) < 0)
        return;
    if (!leg_has_paths_to_open(leg)) {
        leg_resolved(leg);
        return;
    }
    r = leg_open_paths(leg);
    if (r < 0)
        leg_fail(leg, STEP_OPEN, -r, "the opener");
}

void legs_ask(struct front *front, struct seam_message *message)
{
    struct leg *leg = leg_new(front->warden, &front->peer, &front->account, message);

    if (!leg) {
        uint64_t request = message->header.request;

        seam_message_done(message);
        (void)front_refuse(front, request, REASON_OUT_OF_RESOURCES, "memory");
        return;
    }
    leg->front = front;
    front->n_open++;
    ask(leg);
}

void legs_ask_own(const struct leg *like, struct seam_message *message, struct known_version *says)
{
    const struct account account = {.name = like->user, .home = like->home};
    struct leg *leg = leg_new(like->warden, &like->peer, &account, message);

    if (!leg) {
        seam_message_done(message);
        version_failed(says, "memory");
        return;
    }
    leg->vendor.says = says;
    ask(leg);
}

/* ---- running ---- */

static void start_wall(struct leg *leg)
{
    uint64_t ms = leg->decision.limits.wall_ms;
    struct timeval wall = {
        .tv_sec = (time_t)(ms / 1000), .tv_usec = (suseconds_t)(ms % 1000) * 1000};

    (void)event_del(leg->wall);
    if (ms != 0 && event_add(leg->wall, &wall) < 0)
        leg_kill(leg, REASON_WALL_TIME); /* a limit that cannot be kept is not left out */
}

static void stub_started(struct leg *leg, const struct seam_started *started)
{
    leg->started = true;
    leg->state = LEG_RUNNING;
    start_wall(leg);
    leg_tell(leg, EVENT_STARTED, REASON_NONE, (int64_t[]){started->pid, 0, 0}, NULL, NULL);
    version_tell(leg);
    cells_note_leg(leg);
    leg_program_started(leg);
    leg_files_started(leg);
}

static void stub_exited(struct leg *leg, const struct seam_exited *exited)
{
    leg->ending.exited = true;
    leg->ending.wait_status = exited->wait_status;
    leg->ending.output_exceeded = exited->output_exceeded != 0;
    leg->kept[0] = exited->kept[0];
    leg->kept[1] = exited->kept[1];
    leg->kept_lost[0] = exited->kept_lost[0];
    leg->kept_lost[1] = exited->kept_lost[1];
    leg->state = LEG_ENDING;
    leg_tell(leg, EVENT_EXITED, REASON_NONE,
        (int64_t[]){exited->wait_status, exited->cpu_us, exited->max_rss_bytes}, NULL, NULL);
}

static void stub_failed(struct leg *leg, const struct seam_message *message)
{
    const struct seam_failed *failed = message->fixed;
    const char *subject = seam_text(message, failed->subject);

    (void)fault_set(&leg->build_fault, failed->step, failed->error, "%s", subject ? subject : "");
}

static void stub_told(struct leg *leg, const struct seam_message *message)
{
    const struct seam_told *told = message->fixed;
    const struct seam_event *event = &told->event;
    const char *subject = seam_text(message, event->subject);
    const char *detail = seam_text(message, event->detail);
    enum reason reason = event->reason < REASON_COUNT ? (enum reason)event->reason : REASON_NONE;

    if (event->kind != EVENT_DENIED && event->kind != EVENT_NOTE)
        return;
    if (reason == REASON_NESTED_SANDBOX)
        reason = leg_vendor_called(leg, message);
    leg_tell(leg, (enum event_kind)event->kind, reason, (int64_t[]){event->a, event->b, event->c},
        subject, detail);
    if (reason == REASON_NESTED_SANDBOX && leg->vendor.nested == NESTED_KILL)
        leg_kill(leg, REASON_NESTED_SANDBOX);
}

void legs_stub_says(struct leg *leg, struct seam_message *message)
{
    switch (message->header.type) {
    case SEAM_READY:
        leg_row_due(leg);
        leg->ready = true;
        areas_add_led(leg, message);
        ear_learn(leg);
        leg_go_ahead(leg);
        break;
    case SEAM_FAILED:
        if (!leg->started && leg->build_fault.step == 0)
            stub_failed(leg, message);
        break;
    case SEAM_DOORWAY:
        leg_doorway_opened(leg, message);
        break;
    case SEAM_STARTED:
        if (leg->gone_ahead && !leg->started)
            stub_started(leg, message->fixed);
        break;
    case SEAM_EXITED:
        if (leg->started && !leg->ending.exited)
            stub_exited(leg, message->fixed);
        break;
    case SEAM_TOLD:
        if (leg->started)
            stub_told(leg, message);
        break;
    default:
        log_error("leg %llu: its stub sent a message of type %u", (unsigned long long)leg->id,
            message->header.type);
    }
    seam_message_done(message);
}

void legs_stub_ended(struct leg *leg)
{
    const struct fault *fault = &leg->build_fault;

    leg_row_due(leg);
    if (leg->started) {
        leg_end(leg);
        return;
    }
    if (leg->ending.killed != REASON_NONE)
        leg_refuse(leg, leg->ending.killed, "before the program was started");
    else if (fault->step != 0)
        leg_fail(leg, fault->step, fault->error, fault->subject);
    else
        leg_fail(leg, STEP_SLOT, EPIPE, "the stub ended without a report");
}

/* ---- ending from outside ---- */

void leg_kill(struct leg *leg, enum reason reason)
{
    if (leg->ending.killed == REASON_NONE && !leg->ending.exited)
        leg->ending.killed = reason;
    if (leg->slot && leg->slot->cgroup >= 0)
        (void)cgroup_kill(leg->slot->cgroup);
}

void legs_front_gone(struct warden *warden, struct front *front)
{
    struct leg *leg, *next;

    for (leg = TAILQ_FIRST(&warden->legs); leg; leg = next) {
        next = TAILQ_NEXT(leg, entry);
        if (leg->front != front)
            continue;
        leg->front = NULL;
        if (leg->gone_us)
            continue; /* it has ended: its verdict is on the way to the ledger */
        if (leg->slot && leg->recorded)
            leg_kill(leg, REASON_CLIENT_GONE);
        else
            leg_refuse(leg, REASON_CLIENT_GONE, "");
    }
}

struct leg *legs_find(struct warden *warden, uint64_t id)
{
    struct leg *leg;

    TAILQ_FOREACH(leg, &warden->legs, entry)
    {
        if (leg->id == id && leg->recorded)
            return leg;
    }
    return NULL;
}

void legs_stop(struct warden *warden)
{
    struct leg *leg;

    TAILQ_FOREACH(leg, &warden->legs, entry)
    leg_kill(leg, REASON_DAEMON_STOPPED);
}

void legs_abandon(struct warden *warden)
{
    struct leg *leg;

    while ((leg = TAILQ_FIRST(&warden->legs))) {
        leg->front = NULL;
        /* What cannot be killed may still make a placeholder: the next start sweeps it. */
        if (!leg->slot || slot_put_down(leg->slot))
            placeholders_release(leg);
        leg_free(leg);
    }
}
