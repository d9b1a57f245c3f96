/* saphand - the warden: decides, builds, watches, records.
 *
 * What it should do: accept a connection, read from the socket itself who it is, give it to a
 * front; take the front's messages (fixed structs, checked), decide by a pure function of policy
 * and machine row, make the mounts and cgroup of a leg, write its row, send its plan to a stub,
 * watch it by pidfd, and tell the verdict that the leg's end and the checker's look have earned.
 *
 * What it must not do: parse what a client, a leg or the network wrote; open a path that someone
 * else named (the opener does, as the requester); look into a leg's files (the checker does); fork
 * without exec; wait for anyone: one loop, nothing in it blocks on a client, a front, a stub or an
 * errand, each of which has a deadline or is killed.  After start-up nothing that they do ends it.
 *
 * What an attacker who owns it gains: root.  That is why it is small, and why all that reads what
 * an attacker writes is another process: a front (no file, no network, one client), a stub (a leg's
 * own namespaces), an opener and a checker (the requester's rights, read-only).
 */
#include "warden.h"

#include "audit_switch.h"
#include "cgroups.h"
#include "clock.h"
#include "custody.h"
#include "doors.h"
#include "ear.h"
#include "fronts.h"
#include "id_ranges.h"
#include "image_store.h"
#include "images.h"
#include "ledger.h"
#include "legs.h"
#include "listener.h"
#include "log.h"
#include "machine.h"
#include "measuring.h"
#include "own_paths.h"
#include "policies.h"
#include "program.h"
#include "refill.h"
#include "slots.h"
#include "sweep.h"
#include "system_view.h"
#include "undertaker.h"
#include "vendors.h"
#include "versions.h"
#include "zygotes.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>

#define EXIT_REFUSED_TO_START 1
#define HEAP_BYTES (32 << 20)
#define LOWEST_FREE_FD                                                                             \
    16 /* descriptors below are never ours: children's 3 and 4 are made of them */

/* ---- the process itself ---- */

/* Descriptors 0 to 15 are taken, so that none of ours is ever in the way of a child's 0 to 4. */
static int reserve_descriptors(struct warden *warden)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    warden->null = fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_FREE_FD);
    if (warden->null < 0)
        return -errno;
    while (fd >= 0 && fd < LOWEST_FREE_FD) {
        fd = fcntl(warden->null, F_DUPFD_CLOEXEC, 3);
        if (fd >= LOWEST_FREE_FD)
            close(fd);
    }
    return 0;
}

/* The child that becomes a stub is a copy of us until it executes, and needs nothing of our heap:
 * what is not copied costs neither the copy nor the faults afterwards.  MADV_DONTFORK: madvise(2).
 * The heap is one region from now on; what grows beyond it is copied as ever. */
static void keep_heap_to_ourselves(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t start, end;
    void *block;

    (void)mallopt(M_MMAP_THRESHOLD, HEAP_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
    start = ((uintptr_t)sbrk(0) + page - 1) & ~(page - 1);
    block = malloc(HEAP_BYTES - page);
    end = (uintptr_t)sbrk(0) & ~(page - 1);
    free(block);
    if (end > start) /* else another allocator stands in for malloc: a sanitizer's */
        (void)madvise((void *)start, end - start, MADV_DONTFORK);
}

static int set_process(struct warden *warden)
{
    const struct rlimit no_core = {0, 0};
    struct rlimit files;

    keep_heap_to_ourselves();
    (void)umask(0077);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)prctl(PR_SET_DUMPABLE, 0);
    /* What whoever started us left open is for no program of ours, let alone a leg. */
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
        return -errno;
    (void)setrlimit(RLIMIT_CORE, &no_core);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    return reserve_descriptors(warden);
}

static int open_state(struct warden *warden)
{
    const char *state = warden->options.state;

    if (mkdir(state, 0700) < 0 && errno != EEXIST)
        return -errno;
    warden->state = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (warden->state < 0 || fchmod(warden->state, 0700) < 0)
        return -errno;
    /* What the sweep takes for a dead daemon's must not be a living one's. */
    if (flock(warden->state, LOCK_EX | LOCK_NB) < 0) {
        if (errno == EWOULDBLOCK)
            log_error("state %s: another saphand has it: stop that one, or give this one a state "
                      "of its own",
                state);
        return -errno;
    }
    if ((mkdirat(warden->state, "output", 0700) < 0 && errno != EEXIST) ||
        (mkdirat(warden->state, "empty", 0555) < 0 && errno != EEXIST))
        return -errno;
    warden->kept = openat(warden->state, "output", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    warden->empty_root =
        openat(warden->state, "empty", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return warden->kept < 0 || warden->empty_root < 0 ? -errno : 0;
}

/* ---- signals ---- */

static void stop(struct warden *warden)
{
    static const struct timeval at_most = {.tv_sec = 10};

    if (warden->stopping) {
        (void)event_base_loopbreak(warden->loop);
        return;
    }
    warden->stopping = true;
    (void)sd_notify(0, "STOPPING=1");
    listener_close(warden);
    legs_stop(warden);
    if (warden->n_legs == 0)
        (void)event_base_loopbreak(warden->loop);
    (void)event_base_loopexit(warden->loop, &at_most);
}

static void reload(struct warden *warden)
{
    struct vendor_set *vendors;
    struct policy policy;

    (void)sd_notify(0, "RELOADING=1");
    /* A policy with a mistake changes nothing: the one that was good stays in force. */
    if (policies_read(&warden->options, &policy) == 0) {
        policy_done(&warden->policy);
        warden->policy = policy;
        log_info("policy read again: %zu rules", policy.n_rules);
    } else {
        log_error("policy not taken over: the old one stays in force");
    }
    if (vendors_read(&warden->options, &vendors) == 0) {
        vendors_release(warden->vendors);
        warden->vendors = vendors;
    } else {
        log_error("vendors not taken over: the old profiles stay in force");
    }
    (void)sd_notify(0, "READY=1");
}

static void signalled(evutil_socket_t number, short what, void *context)
{
    if (number == SIGHUP)
        reload(context);
    else
        stop(context);
}

static int watch_signals(struct warden *warden)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};

    for (size_t i = 0; i < array_size(numbers); i++) {
        warden->signal_events[i] = evsignal_new(warden->loop, numbers[i], signalled, warden);
        if (!warden->signal_events[i] || event_add(warden->signal_events[i], NULL) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* ---- the turn of the loop ---- */

static void keep_alive(evutil_socket_t fd, short what, void *context)
{
    (void)sd_notify(0, "WATCHDOG=1");
}

static int start_timers(struct warden *warden)
{
    uint64_t watchdog_us = 0;
    int r = refill_open(warden);

    if (r < 0)
        return r;
    if (sd_watchdog_enabled(0, &watchdog_us) > 0) {
        struct timeval half = {.tv_sec = (time_t)(watchdog_us / 2000000),
            .tv_usec = (suseconds_t)(watchdog_us / 2 % 1000000)};

        warden->watchdog = event_new(warden->loop, -1, EV_PERSIST, keep_alive, warden);
        if (!warden->watchdog || event_add(warden->watchdog, &half) < 0)
            return -ENOMEM;
    }
    return 0;
}

static void say_ready(struct warden *warden)
{
    static const char ready[] = "ready\n";

    (void)sd_notify(0, "READY=1");
    if (warden->options.ready_fd >= 0) {
        (void)!write(warden->options.ready_fd, ready, sizeof(ready) - 1);
        close(warden->options.ready_fd);
    }
    log_info("saphand %s listens on %s", SAPHAN_VERSION, warden->options.socket);
}

/* ---- start and stop, as tables of contents ---- */

struct start_step {
    const char *name;
    int (*run)(struct warden *warden);
};

static int read_policies(struct warden *warden)
{
    return policies_read(&warden->options, &warden->policy);
}

static int read_vendors(struct warden *warden)
{
    return vendors_read(&warden->options, &warden->vendors);
}

static int check_custody(struct warden *warden)
{
    return custody_check(&warden->options) == 0 ? 0 : -EPERM;
}

static int open_ledger(struct warden *warden)
{
    int r = ledger_open(warden, &warden->ledger);

    if (r == 0)
        warden->next_leg = ledger_next_leg(warden->ledger);
    return r;
}

static const struct start_step steps[] = {
    {"process", set_process},
    {"custody", check_custody},
    {"policy", read_policies},
    {"vendors", read_vendors},
    {"state", open_state},
    {"programs", program_open_all},
    {"id ranges", id_ranges_open},
    {"own paths", own_paths_open},
    {"view", system_view_open},
    {"ledger", open_ledger},
    {"cgroup", cgroups_open},
    {"sweep", sweep},
    {"images", image_store_open},
    {"audit", audit_switch_on},
    {"machine row", machine_measure},
    {"ear", ear_open},
    {"zygotes", zygotes_open},
    {"signals", watch_signals},
    {"timers", start_timers},
    {"socket", listener_open},
};

static int start(struct warden *warden)
{
    for (size_t i = 0; i < array_size(steps); i++) {
        int r = steps[i].run(warden);

        if (r < 0) {
            log_error("not started: step %s: %s", steps[i].name, strerror(-r));
            return r;
        }
    }
    return 0;
}

static void free_events(struct warden *warden)
{
    for (size_t i = 0; i < array_size(warden->signal_events); i++) {
        if (warden->signal_events[i])
            event_free(warden->signal_events[i]);
    }
    if (warden->refill)
        event_free(warden->refill);
    if (warden->watchdog)
        event_free(warden->watchdog);
}

static void end(struct warden *warden)
{
    listener_close(warden);
    legs_abandon(warden);
    images_close(warden);
    image_store_close(warden);
    ear_close(warden);
    audit_switch_back(warden);
    measuring_close(warden);
    fronts_close(warden);
    doors_close(warden);
    slots_close(warden);
    zygotes_close(warden);
    if (warden->ledger && warden->cgroup_base >= 0)
        (void)ledger_note(warden->ledger, "cgroup", "");
    cgroups_close(warden);
    versions_done(warden);
    undertaker_close(warden);
    ledger_close(warden->ledger);
    free_events(warden);
    system_view_close(warden);
    own_paths_close(warden);
    policy_done(&warden->policy);
    vendors_release(warden->vendors);
    for (size_t i = 0; i < PROGRAM_COUNT; i++)
        close_fd(&warden->programs[i]);
    close_fd(&warden->empty_root);
    close_fd(&warden->kept);
    close_fd(&warden->state);
    id_ranges_close(warden);
    close_fd(&warden->null);
    if (warden->loop)
        event_base_free(warden->loop);
}

static int run(struct warden *warden)
{
    int r = start(warden);

    if (r == 0) {
        say_ready(warden);
        if (event_base_dispatch(warden->loop) < 0)
            r = -EIO;
    }
    end(warden);
    return r < 0 ? EXIT_REFUSED_TO_START : 0;
}

/* --check: all that can be judged without starting. */
static int check(struct warden *warden)
{
    int faults = custody_check(&warden->options);
    struct vendor_set *vendors;
    struct policy policy = {0};

    if (policies_read(&warden->options, &policy) < 0)
        faults++;
    else
        log_info("policy: %zu rules", policy.n_rules);
    policy_done(&policy);
    if (vendors_read(&warden->options, &vendors) < 0)
        faults++;
    else
        vendors_release(vendors);
    log_info(faults ? "%d faults: saphand would not start" : "good: saphand would start", faults);
    return faults ? EXIT_REFUSED_TO_START : 0;
}

static struct warden *warden_new(void)
{
    struct warden *warden = calloc(1, sizeof(*warden));

    if (!warden)
        return NULL;
    warden->null = warden->empty_root = warden->state = warden->kept = -EBADF;
    warden->cgroup_base = warden->cgroup_parent = warden->socket = warden->id_lock = -EBADF;
    warden->spare = -EBADF;
    for (size_t i = 0; i < PROGRAM_COUNT; i++)
        warden->programs[i] = -EBADF;
    TAILQ_INIT(&warden->fronts_ready);
    TAILQ_INIT(&warden->fronts_serving);
    TAILQ_INIT(&warden->doors);
    TAILQ_INIT(&warden->slots);
    TAILQ_INIT(&warden->legs);
    TAILQ_INIT(&warden->rows);
    TAILQ_INIT(&warden->versions);
    TAILQ_INIT(&warden->addings);
    TAILQ_INIT(&warden->intents);
    TAILQ_INIT(&warden->graves);
    warden->next_leg = 1;
    warden->started_ms = clock_wall_ms();
    warden->loop = event_base_new();
    if (warden->loop && event_base_priority_init(warden->loop, 3) < 0) {
        event_base_free(warden->loop);
        warden->loop = NULL;
    }
    return warden;
}

int main(int argc, char **argv)
{
    struct warden *warden;
    int status = EXIT_REFUSED_TO_START;

    log_open("saphand", LOG_LEVEL_INFO);
    warden = warden_new();
    if (!warden || !warden->loop) {
        log_error("out of memory");
        return EXIT_REFUSED_TO_START;
    }
    if (options_parse(argc, argv, &warden->options, &status) == 0) {
        if (geteuid() != 0)
            log_error("saphand must be started as root");
        else
            status = warden->options.check ? check(warden) : run(warden);
    }
    options_done(&warden->options);
    free(warden);
    return status;
}
