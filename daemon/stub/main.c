/* saphan-stub - a slot, then a leg's pid 1.
 *
 * It is executed once, as a zygote (zygote.h) that bears a slot on each order of the warden's.  The
 * zygote is root by number, for a slot is born into a cgroup of root's, and has no capability.
 *
 * What it should do: stand in fresh namespaces, root of its own user namespace and a stranger to
 * the host, until the warden sends a plan; build the boundary that the plan says; start the process
 * that raises the last walls on itself and becomes the leg's program; then, without any privilege
 * left, reap, answer the calls that build sandboxes, keep output, and say how the program ended.
 *
 * What it must not: leave a step out.  A step that fails is told and the slot is thrown away.  It
 * reads nothing of the leg's but bytes to be kept, and the numbers of refused calls; it has no
 * argument, no environment, and no descriptor that the leg could come by.
 *
 * What an attacker who owns it gains: before a plan came, a set of empty namespaces.  While it
 * builds, the id-mapped mounts of one leg, which the requester granted.  While the leg runs, what
 * the leg has, outside its Landlock domain but without a capability and under a filter of some
 * forty calls; and the leg's messages to the warden: it could lie about one leg's end.
 */
#include "birth.h"
#include "boundary.h"
#include "doorway.h"
#include "watch.h"

#include "channel.h"
#include "clock.h"
#include "descriptor.h"
#include "identity.h"
#include "messages.h"
#include "namespace.h"
#include "own.h"
#include "plan.h"
#include "steps.h"
#include "zygote.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#define CHANNEL 3
#define KEPT_CAP_STANDARD (16ULL << 20) /* a plan whose limits say nothing of output */

static _Noreturn void give_up(const struct fault *fault)
{
    struct seam_failed failed = {.step = fault->step, .error = fault->error};
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_FAILED, 0);
    failed.subject = seam_put_text(&writer, fault->subject);
    (void)seam_send(CHANNEL, &writer, &failed, NULL, 0);
    _exit(1);
}

static int say(uint16_t type, const void *fixed)
{
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, type, 0);
    r = seam_send(CHANNEL, &writer, fixed, NULL, 0);
    seam_writer_done(&writer);
    return r;
}

/* What whoever started saphand ignored (nohup(1)) is not for a leg: an exec would keep it. */
static int default_signals(void)
{
    for (int number = 1; number <= SIGRTMAX; number++) {
        if (signal(number, SIG_DFL) == SIG_ERR && errno != EINVAL)
            return -errno;
    }
    return 0;
}

/* Before there is any slot.  Nothing is written to the daemon's journal by a stub: descriptor 2 is
 * what 0 and 1 are.  That the host's tree cannot be left is each slot's to tell. */
static int prepare_zygote(struct fault *ret_fault)
{
    int r;

    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NAME, "saphan-stub", 0, 0, 0) < 0 ||
        fcntl(CHANNEL, F_SETFD, FD_CLOEXEC) < 0 || dup2(0, 2) < 0)
        return -errno;
    r = default_signals();
    (void)boundary_leave_host(ret_fault);
    if (r == 0)
        r = identity_bound();
    if (r == 0)
        r = identity_drop();
    return r == 0 ? identity_no_new_privs() : r;
}

/* A newborn slot is still root of the host by number, without a right to it, until the warden has
 * mapped its ids.  It dies with the warden; one that died too early to be noticed so has closed the
 * channel. */
static int become_root(struct fault *ret_fault)
{
    struct pollfd hung_up = {.fd = CHANNEL};
    struct seam_message message;
    int r = seam_receive(CHANNEL, &message);

    if (r == SEAM_E_CLOSED)
        _exit(0); /* nobody wants it any more */
    if (r != 0 || message.header.type != SEAM_MAPPED)
        return fault_set(ret_fault, STEP_SLOT, r < 0 ? -r : EBADMSG, "message");
    seam_message_done(&message);
    r = namespace_become_root();
    if (r < 0)
        return fault_set(ret_fault, STEP_SLOT, -r, "ids");
    if (poll(&hung_up, 1, 0) != 0)
        _exit(0);
    return 0;
}

static int settle(struct site *site, struct fault *ret_fault)
{
    sigset_t children;

    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    if (setsid() < 0 || sigprocmask(SIG_SETMASK, &children, NULL) < 0)
        return fault_set(ret_fault, STEP_SLOT, errno, "stub");
    boundary_init(site);
    return boundary_prepare(site, ret_fault);
}

/* The plan and its descriptors live as long as the process: nothing is freed on the way. */
static int take_plan(struct seam_message *message, struct plan_view *view, struct fault *ret_fault)
{
    int r = seam_receive(CHANNEL, message);

    if (r == SEAM_E_CLOSED)
        _exit(0); /* a slot that was never used */
    if (r != 0 || message->header.type != SEAM_PLAN || message->n_descriptors == 0)
        return fault_set(ret_fault, STEP_PLAN, r < 0 ? -r : EBADMSG, "message");
    r = plan_open(message->descriptors[0], message->n_descriptors, view);
    return r < 0 ? fault_set(ret_fault, STEP_PLAN, -r, "plan") : 0;
}

static int read_arguments(
    struct program *program, const struct plan_view *view, struct fault *ret_fault)
{
    char **argv, **env;
    int r = plan_strv(view, view->plan->argv, &argv);

    if (r == 0)
        r = plan_strv(view, view->plan->env, &env);
    if (r < 0)
        return fault_set(ret_fault, STEP_PLAN, -r, "arguments");
    program->argv = argv;
    program->env = env;
    return 0;
}

/* What comes through our hands is kept in a file, or counted on its way to the client. */
static int prepare_output(struct watch *watch, struct site *site, struct fault *ret_fault)
{
    const struct plan *plan = site->plan;
    uint64_t cap = plan->limits.output ? plan->limits.output : KEPT_CAP_STANDARD;

    if (plan->streams[1].mode == STREAM_KEEP && plan->streams[2].mode == STREAM_KEEP)
        cap /= 2;
    watch->budget = plan->limits.output;
    for (size_t i = 0; i < 2; i++) {
        int file, r;

        if (site->kept[i + 1] < 0)
            continue;
        if (plan->streams[i + 1].mode != STREAM_KEEP) {
            watch->meters[i].pipe = steal_fd(&site->kept[i + 1]);
            watch->meters[i].onward = site->descriptors[plan->streams[i + 1].descriptor];
            continue;
        }
        watch->pipes[i] = steal_fd(&site->kept[i + 1]);
        file = site->descriptors[plan->streams[i + 1].descriptor];
        r = kept_start(&watch->kept[i], file, cap);
        if (r < 0)
            return fault_set(ret_fault, STEP_STDIO, -r, "kept output");
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* From here on pid 1 holds what it works with, and nothing else of the plan or the client. */
static int shed(struct watch *watch, struct site *site)
{
    const int wanted[] = {watch->channel, watch->children, watch->listener, watch->pipes[0],
        watch->pipes[1], watch->pipes[0] >= 0 ? watch->kept[0].fd : -EBADF,
        watch->pipes[1] >= 0 ? watch->kept[1].fd : -EBADF, watch->meters[0].pipe,
        watch->meters[0].onward, watch->meters[1].pipe, watch->meters[1].onward};
    int keep[array_size(wanted)];
    size_t count = 0;

    for (int fd = 0; fd < 3; fd++) {
        if (dup2(site->null, fd) < 0)
            return -errno;
    }
    for (size_t i = 0; i < array_size(wanted); i++) {
        if (wanted[i] >= 0)
            keep[count++] = wanted[i];
    }
    qsort(keep, count, sizeof(keep[0]), compare);
    return descriptor_close_from(3, keep, count);
}

static int open_children(void)
{
    sigset_t children;

    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    return signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Anything but GO, and the end of the channel too, is the end of the leg. */
static void wait_for_go(void)
{
    struct seam_message message;

    if (seam_receive(CHANNEL, &message) != 0 || message.header.type != SEAM_GO)
        _exit(1);
    seam_message_done(&message);
}

/* The last walls, on both processes, before the warden hears READY: there is no moment at which a
 * program of a leg runs beside a pid 1 that could do more than it. */
static int raise_walls(struct program *program, const struct plan *plan, struct fault *ret_fault)
{
    /* Before there are two of them, so that what both lose is taken away once. */
    int r = boundary_bound(plan, ret_fault);

    if (r < 0)
        return r;
    r = program_raise(program);
    if (r < 0)
        *ret_fault = program->fault;
    return r < 0 ? r : boundary_retire(plan->uid, plan->gid, ret_fault);
}

/* A list that does not fit stays away: it is for the telling alone. */
static void say_ready(const struct site *site, uint64_t build_us)
{
    struct seam_ready ready = {.build_us = build_us};
    struct seam_writer writer;
    size_t size = 0;
    uint32_t n = 0;

    while (n < site->n_led && (size += strlen(site->led[n]) + 1) <= SEAM_STRINGS_MAX / 2)
        n++;
    seam_writer_init(&writer, SEAM_READY, 0);
    ready.led = seam_put_list(&writer, (const char *const *)site->led, n);
    (void)seam_send(CHANNEL, &writer, &ready, NULL, 0);
    seam_writer_done(&writer);
}

/* Executes on the warden's word, and lets go of all that was only for the program. */
static int start(struct program *program, struct watch *watch, struct fault *ret_fault)
{
    int r;

    wait_for_go();
    r = program_release(program);
    if (r < 0) {
        *ret_fault = program->fault;
        return r;
    }
    (void)say(SEAM_STARTED, &(struct seam_started){.pid = program->pid});
    watch->program = program->pid;
    watch->listener = program->listener;
    r = shed(watch, program->site);
    return r < 0 ? fault_set(ret_fault, STEP_STDIO, -r, "pid 1") : 0;
}

/* The leg's listening sockets go out before anything of the leg runs; none stays with us. */
static int hand_out_doorway(const struct plan *plan, struct fault *ret_fault)
{
    int sockets[DOOR_LISTENERS_MAX];
    struct seam_writer writer;
    int r;

    if (plan->n_ports == 0)
        return 0;
    r = doorway_open(plan, sockets, ret_fault);
    if (r < 0)
        return r;
    seam_writer_init(&writer, SEAM_DOORWAY, 0);
    r = seam_send(
        CHANNEL, &writer, &(struct seam_end){.value = plan->n_ports}, sockets, plan->n_ports);
    seam_writer_done(&writer);
    for (uint32_t i = 0; i < plan->n_ports; i++)
        close_fd(&sockets[i]);
    return r == 0 ? 0 : fault_set(ret_fault, STEP_DOOR, r < 0 ? -r : EPIPE, "sending");
}

/* Builds, starts, and becomes the pid 1 that watches. */
static int run(struct site *site, const struct seam_message *message, struct plan_view *view,
    struct watch *watch, struct fault *ret_fault)
{
    const uint64_t asked_us = clock_monotonic_us();
    struct program program = {.site = site};
    int r;

    watch->denials.leg = view->plan->leg;
    r = hand_out_doorway(view->plan, ret_fault);
    if (r == 0)
        r = boundary_build(site, view, message->descriptors, ret_fault);
    if (r == 0)
        r = prepare_output(watch, site, ret_fault);
    if (r == 0)
        r = read_arguments(&program, view, ret_fault);
    if (r == 0)
        r = raise_walls(&program, view->plan, ret_fault);
    if (r < 0)
        return r;
    say_ready(site, clock_monotonic_us() - asked_us);
    r = start(&program, watch, ret_fault);
    plan_close(view);
    return r;
}

int main(void)
{
    static struct watch watch; /* the one context; too big for a stack frame to be tidy */
    struct seam_message message;
    struct plan_view view;
    struct fault fault = {0};
    struct site site;
    uint64_t unused;

    if (prepare_zygote(&fault) < 0 || zygote_run(CHANNEL, &unused) < 0)
        _exit(1);
    /* From here on a slot. */
    watch.channel = CHANNEL;
    watch.listener = watch.pipes[0] = watch.pipes[1] = -EBADF;
    meter_init(&watch.meters[0], watch.chunks[0]);
    meter_init(&watch.meters[1], watch.chunks[1]);
    watch.children = open_children();
    if (fault.step == STEP_NONE && watch.children < 0)
        (void)fault_set(&fault, STEP_SLOT, errno, "signalfd");
    if (fault.step || become_root(&fault) < 0 || settle(&site, &fault) < 0)
        give_up(&fault);
    if (say(SEAM_WAITING, &(struct seam_end){0}) != 0)
        _exit(1);
    if (take_plan(&message, &view, &fault) < 0 || run(&site, &message, &view, &watch, &fault) < 0)
        give_up(&fault);
    _exit(watch_run(&watch) == 0 ? 0 : 1);
}
