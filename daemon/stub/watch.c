#include "watch.h"

#include "messages.h"
#include "own.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#define TELL_AGAIN_MS 50
#define PUMP_MAX (256 * 1024)   /* then the others have their turn */
#define DRAIN_WAIT_MS 1000      /* a client that takes nothing for so long loses the rest */
#define DRAIN_MAX (1024 * 1024) /* a pipe's largest usual capacity: no orphan can keep us here */

/* Reaps all that ended.  1: the program is among them, *RET_STATUS is its. */
static int reap(const struct watch *watch, int *ret_status)
{
    struct signalfd_siginfo told;
    int status, found = 0;
    pid_t pid;

    if (read(watch->children, &told, sizeof(told)) < 0 && errno != EAGAIN)
        return -errno;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == watch->program) {
            *ret_status = status;
            found = 1;
        }
    }
    return found;
}

/* Moves what waits in one pipe, at most MAX bytes.  A full disk loses output, never the leg: what
 * is kept is then the beginning, and what was lost is counted. */
static void pump(struct watch *watch, size_t stream, size_t max)
{
    size_t moved = 0;

    while (moved < max) {
        ssize_t n = read(watch->pipes[stream], watch->buffer, sizeof(watch->buffer));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            close_fd(&watch->pipes[stream]);
            return;
        }
        if (watch->lost[stream] > 0 ||
            kept_append(&watch->kept[stream], watch->buffer, (size_t)n) < 0)
            watch->lost[stream] += (uint64_t)n;
        moved += (size_t)n;
    }
}

static int say_exited(struct watch *watch, int status, bool exceeded)
{
    struct seam_exited exited = {.wait_status = status,
        .output_exceeded = exceeded,
        .kept = {watch->kept[0].total, watch->kept[1].total},
        .kept_lost = {watch->lost[0], watch->lost[1]}};
    struct pollfd room = {.fd = watch->channel, .events = POLLOUT};
    struct seam_writer writer;
    struct rusage usage;
    int r;

    if (getrusage(RUSAGE_CHILDREN, &usage) == 0) {
        exited.cpu_us = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                        usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
        exited.max_rss_bytes = usage.ru_maxrss * 1024;
    }
    seam_writer_init(&writer, SEAM_EXITED, 0);
    while ((r = seam_send(watch->channel, &writer, &exited, NULL, 0)) == -EAGAIN) {
        if (poll(&room, 1, -1) < 0 && errno != EINTR)
            return -errno;
    }
    seam_writer_done(&writer);
    return r;
}

/* Hands on what the program left in its counted pipes, as long as the client takes it.  False when
 * that is more than the limit. */
static bool drain_meters(struct watch *watch)
{
    for (size_t i = 0; i < 2; i++) {
        struct meter *meter = &watch->meters[i];
        uint64_t before;

        do {
            struct pollfd fds[2] = {{.fd = watch->channel, .events = POLLIN}};

            before = watch->budget;
            if (!meter_move(meter, &watch->budget))
                return false;
            meter_wants(meter, &fds[1].fd, &fds[1].events);
            if (fds[1].events == POLLOUT && (poll(fds, 2, DRAIN_WAIT_MS) <= 0 || fds[0].revents))
                return true; /* nobody takes it, or the daemon is gone */
        } while (meter->at < meter->have || before != watch->budget);
    }
    return true;
}

/* The program passed its limit: our own end ends it, and all else in the namespace. */
static int overflow(struct watch *watch)
{
    (void)denials_tell(&watch->denials, watch->channel, true);
    return say_exited(watch, SIGKILL, true);
}

static int finish(struct watch *watch, int status)
{
    if (!drain_meters(watch))
        return overflow(watch);
    for (size_t i = 0; i < 2; i++) {
        if (watch->pipes[i] >= 0)
            pump(watch, i, DRAIN_MAX);
    }
    (void)denials_tell(&watch->denials, watch->channel, true);
    return say_exited(watch, status, false);
}

int watch_run(struct watch *watch)
{
    bool untold = false;
    int status = 0, r;

    for (;;) {
        struct pollfd fds[] = {
            {.fd = watch->channel, .events = POLLIN},
            {.fd = watch->children, .events = POLLIN},
            {.fd = watch->listener, .events = POLLIN},
            {.fd = watch->pipes[0], .events = POLLIN},
            {.fd = watch->pipes[1], .events = POLLIN},
            {.fd = -1},
            {.fd = -1},
        };

        for (size_t i = 0; i < 2; i++)
            meter_wants(&watch->meters[i], &fds[5 + i].fd, &fds[5 + i].events);
        if (poll(fds, array_size(fds), untold ? TELL_AGAIN_MS : -1) < 0 && errno != EINTR)
            return -errno;
        if (fds[0].revents)
            return SEAM_E_CLOSED; /* gone, or saying what nobody says now */
        for (size_t i = 0; i < 2; i++) {
            if (fds[3 + i].revents)
                pump(watch, i, PUMP_MAX);
            if (fds[5 + i].revents && !meter_move(&watch->meters[i], &watch->budget))
                return overflow(watch);
        }
        if (fds[2].revents & POLLIN)
            (void)denials_answer(&watch->denials, watch->listener); /* -ENOENT: it was killed */
        else if (fds[2].revents)
            close_fd(&watch->listener); /* hung up: nobody is under the filter any more */
        untold = denials_tell(&watch->denials, watch->channel, false);
        r = fds[1].revents ? reap(watch, &status) : 0;
        if (r < 0)
            return r;
        if (r > 0)
            return finish(watch, status);
    }
}
