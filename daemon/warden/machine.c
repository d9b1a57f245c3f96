#include "machine.h"

#include "clock.h"
#include "log.h"
#include "program.h"
#include "undertaker.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define PROBE_TIMEOUT_US 15000000

static void take(struct machine_row *machine, const struct seam_message *message)
{
    const struct seam_probed *probed = message->fixed;
    const char *detail = seam_text(message, probed->detail);
    struct rung *rung;

    if (probed->rung >= RUNG_COUNT || probed->state > RUNG_BROKEN)
        return;
    rung = &machine->rungs[probed->rung];
    rung->state = (enum rung_state)probed->state;
    rung->error = probed->error;
    rung->value = probed->value;
    (void)snprintf(rung->detail, sizeof(rung->detail), "%s", detail ? detail : "");
}

static int listen_to(struct program_child *probe, struct machine_row *machine)
{
    uint64_t deadline = clock_monotonic_us() + PROBE_TIMEOUT_US;
    struct pollfd channel = {.fd = probe->channel, .events = POLLIN};

    for (;;) {
        struct seam_message message;
        uint64_t now = clock_monotonic_us();
        int r;

        if (now >= deadline)
            return -ETIMEDOUT;
        if (poll(&channel, 1, (int)((deadline - now) / 1000) + 1) < 0 && errno != EINTR)
            return -errno;
        r = seam_receive(probe->channel, &message);
        if (r == SEAM_E_CLOSED)
            return 0;
        if (r == -EAGAIN)
            continue;
        if (r != 0)
            return r < 0 ? r : -EBADMSG;
        if (message.header.type == SEAM_PROBED)
            take(machine, &message);
        seam_message_done(&message);
    }
}

static void log_row(const struct machine_row *machine)
{
    for (uint32_t i = 0; i < RUNG_COUNT; i++) {
        if (machine->rungs[i].state != RUNG_HOLDS)
            log_info("rung %s: %s: %s", rung_slug((enum rung_id)i),
                rung_state_name(machine->rungs[i].state), machine->rungs[i].detail);
    }
}

int machine_measure(struct warden *warden)
{
    const char *const argv[] = {program_name(PROGRAM_PROBE), NULL};
    struct program_child probe;
    int r;

    memset(&warden->machine, 0, sizeof(warden->machine));
    r = program_start(warden, PROGRAM_PROBE, argv, warden->cgroup_base, &probe);
    if (r < 0)
        return r;
    r = listen_to(&probe, &warden->machine);
    program_end(warden, &probe, NOBODY);
    log_row(&warden->machine);
    return r;
}
