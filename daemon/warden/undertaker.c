#include "undertaker.h"

#include "clock.h"
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MOMENT_US 1000000U

struct grave {
    TAILQ_ENTRY(grave) entry;
    struct warden *warden;
    int pidfd;
    uint32_t uid;
    uint64_t since_us;
    struct event *ended;
};

static bool reap(int pidfd)
{
    siginfo_t info = {0};

    return waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG) < 0 || info.si_pid != 0;
}

static void close_grave(struct grave *grave)
{
    TAILQ_REMOVE(&grave->warden->graves, grave, entry);
    if (grave->ended)
        event_free(grave->ended);
    close_fd(&grave->pidfd);
    free(grave);
}

static void ended(evutil_socket_t fd, short what, void *context)
{
    struct grave *grave = context;

    (void)reap(grave->pidfd);
    close_grave(grave);
}

void undertaker_bury(struct warden *warden, int pidfd, uint32_t uid)
{
    struct grave *grave;

    (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    if (reap(pidfd)) {
        close(pidfd);
        return;
    }
    grave = calloc(1, sizeof(*grave));
    if (!grave) {
        close(pidfd); /* killed all the same; it stays a zombie until we end */
        return;
    }
    grave->warden = warden;
    grave->pidfd = pidfd;
    grave->uid = uid;
    grave->since_us = clock_monotonic_us();
    TAILQ_INSERT_TAIL(&warden->graves, grave, entry);
    grave->ended = event_new(warden->loop, pidfd, EV_READ, ended, grave);
    if (!grave->ended || event_add(grave->ended, NULL) < 0)
        close_grave(grave);
}

uint32_t undertaker_waits_for(const struct warden *warden, uint32_t uid)
{
    uint64_t now = clock_monotonic_us();
    const struct grave *grave;
    uint32_t count = 0;

    TAILQ_FOREACH(grave, &warden->graves, entry)
    count += grave->uid == uid && now - grave->since_us > MOMENT_US;
    return count;
}

void undertaker_close(struct warden *warden)
{
    struct grave *grave;

    while ((grave = TAILQ_FIRST(&warden->graves)))
        close_grave(grave);
}
