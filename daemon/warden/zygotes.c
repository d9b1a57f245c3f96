#include "zygotes.h"

#include "clock.h"
#include "listener.h"
#include "log.h"
#include "program.h"
#include "refill.h"
#include "undertaker.h"
#include <errno.h>
#include <string.h>

/* One that died young is not started at once again: no busy loop of deaths. */
#define YOUNG_US 1000000U
static const struct timeval after_the_young = {.tv_sec = 1};
static const struct timeval at_once = {.tv_usec = 0};

struct birth {
    TAILQ_ENTRY(birth) entry;
    zygote_born born;
    void *context; /* NULL: nobody waits for it any more */
};
TAILQ_HEAD(birth_list, birth);

struct zygote {
    struct warden *warden;
    enum program program;
    struct program_child child; /* pidfd < 0: there is none at present */
    struct event *readable, *ended, *again;
    struct birth_list births; /* ordered and not told yet, in order */
    uint64_t started_us;
};

static void finish(struct zygote *zygote, int error, pid_t pid, int pidfd)
{
    struct birth *birth = TAILQ_FIRST(&zygote->births);

    TAILQ_REMOVE(&zygote->births, birth, entry);
    if (birth->context)
        birth->born(birth->context, error, pid, pidfd);
    else if (pidfd >= 0)
        undertaker_bury(zygote->warden, pidfd, NOBODY);
    free(birth);
}

/* Its children live on: they are ours.  Those that it was still to bear, or to tell of, are not
 * to be had: each finds its channel closed when it is born after all. */
static void lose(struct zygote *zygote)
{
    struct event **events[] = {&zygote->readable, &zygote->ended};

    for (size_t i = 0; i < array_size(events); i++) {
        if (*events[i])
            event_free(*events[i]);
        *events[i] = NULL;
    }
    program_end(zygote->warden, &zygote->child, NOBODY);
}

static void fail_births(struct zygote *zygote)
{
    while (!TAILQ_EMPTY(&zygote->births))
        finish(zygote, ECHILD, 0, -EBADF);
}

static void zygote_lost(struct zygote *zygote, const char *what)
{
    bool young = clock_monotonic_us() - zygote->started_us < YOUNG_US;

    log_error("%s: the zygote %s: it is started again%s", program_name(zygote->program), what,
        young ? " in a second" : "");
    lose(zygote);
    (void)event_add(zygote->again, young ? &after_the_young : &at_once);
    fail_births(zygote);
}

static bool take(struct zygote *zygote, struct seam_message *message)
{
    const struct seam_born *born = message->fixed;
    bool good = message->header.type == SEAM_BORN && !TAILQ_EMPTY(&zygote->births) &&
                (born->error != 0) == (message->n_descriptors == 0) && born->error >= 0;

    if (good)
        finish(zygote, born->error, born->pid,
            born->error ? -EBADF : steal_fd(&message->descriptors[0]));
    seam_message_done(message);
    return good;
}

static void zygote_readable(evutil_socket_t fd, short what, void *context)
{
    struct zygote *zygote = context;
    struct seam_message message;
    int r = seam_receive(zygote->child.channel, &message);

    if (r == -EAGAIN)
        return;
    if (r != 0)
        zygote_lost(zygote, "closed its channel");
    else if (!take(zygote, &message))
        zygote_lost(zygote, "said what it has no business to say");
}

static void zygote_ended(evutil_socket_t fd, short what, void *context)
{
    struct zygote *zygote = context;

    /* What it told before it died is heard first: those children are born. */
    while (zygote->child.pidfd >= 0 && !TAILQ_EMPTY(&zygote->births)) {
        struct seam_message message;

        if (seam_receive(zygote->child.channel, &message) != 0 || !take(zygote, &message))
            break;
    }
    zygote_lost(zygote, "died");
}

static int start(struct zygote *zygote)
{
    struct warden *warden = zygote->warden;
    const char *const argv[] = {program_name(zygote->program), NULL};
    int extra = zygote->program == PROGRAM_FRONT ? warden->empty_root : -EBADF;
    int r = program_start(warden, zygote->program, argv, extra, &zygote->child);

    if (r < 0)
        return r;
    zygote->started_us = clock_monotonic_us();
    zygote->readable = event_new(
        warden->loop, zygote->child.channel, EV_READ | EV_PERSIST, zygote_readable, zygote);
    zygote->ended = event_new(warden->loop, zygote->child.pidfd, EV_READ, zygote_ended, zygote);
    if (!zygote->readable || !zygote->ended || event_add(zygote->readable, NULL) < 0 ||
        event_add(zygote->ended, NULL) < 0) {
        lose(zygote);
        return -ENOMEM;
    }
    return 0;
}

static void start_again(evutil_socket_t fd, short what, void *context)
{
    struct zygote *zygote = context;
    int r = start(zygote);

    if (r == 0) {
        listener_resume(zygote->warden);
        refill_soon(zygote->warden);
        return;
    }
    log_error("%s: cannot be started: %s", program_name(zygote->program), strerror(-r));
    (void)event_add(zygote->again, &after_the_young);
}

static int zygote_open(struct warden *warden, enum program program, struct zygote **ret)
{
    struct zygote *zygote = calloc(1, sizeof(*zygote));
    int r;

    if (!zygote)
        return -ENOMEM;
    *zygote = (struct zygote){
        .warden = warden, .program = program, .child = {.pidfd = -EBADF, .channel = -EBADF}};
    TAILQ_INIT(&zygote->births);
    *ret = zygote;
    zygote->again = evtimer_new(warden->loop, start_again, zygote);
    if (!zygote->again)
        return -ENOMEM;
    r = start(zygote);
    if (r < 0)
        log_error("%s: %s", program_name(program), strerror(-r));
    return r;
}

int zygotes_open(struct warden *warden)
{
    int r = zygote_open(warden, PROGRAM_FRONT, &warden->front_zygote);

    return r < 0 ? r : zygote_open(warden, PROGRAM_STUB, &warden->stub_zygote);
}

static void zygote_close(struct zygote *zygote)
{
    struct birth *birth;

    if (!zygote)
        return;
    lose(zygote);
    while ((birth = TAILQ_FIRST(&zygote->births))) {
        TAILQ_REMOVE(&zygote->births, birth, entry);
        free(birth);
    }
    if (zygote->again)
        event_free(zygote->again);
    free(zygote);
}

void zygotes_close(struct warden *warden)
{
    zygote_close(warden->front_zygote);
    zygote_close(warden->stub_zygote);
    warden->front_zygote = warden->stub_zygote = NULL;
}

bool zygote_is_there(const struct zygote *zygote)
{
    return zygote->child.pidfd >= 0;
}

int zygote_bear(struct zygote *zygote, const struct seam_bear *bear, int channel, int cgroup,
    zygote_born born, void *context)
{
    const int descriptors[] = {channel, cgroup};
    struct seam_writer writer;
    struct birth *birth;
    int r;

    if (zygote->child.pidfd < 0)
        return -ECHILD;
    birth = calloc(1, sizeof(*birth));
    if (!birth)
        return -ENOMEM;
    seam_writer_init(&writer, SEAM_BEAR, 0);
    r = seam_send(zygote->child.channel, &writer, bear, descriptors, cgroup >= 0 ? 2 : 1);
    seam_writer_done(&writer);
    if (r != 0) {
        free(birth);
        return r < 0 ? r : -ECHILD; /* its end is told by its pidfd */
    }
    birth->born = born;
    birth->context = context;
    TAILQ_INSERT_TAIL(&zygote->births, birth, entry);
    return 0;
}

void zygote_forget(struct zygote *zygote, const void *context)
{
    struct birth *birth;

    if (!zygote)
        return;
    TAILQ_FOREACH(birth, &zygote->births, entry)
    {
        if (birth->context == context)
            birth->context = NULL;
    }
}
