#include "machine.h"

#include "clock.h"
#include "descriptor.h"
#include "ledger_machine.h"
#include "log.h"
#include "program.h"
#include "text.h"
#include "undertaker.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define SMALL_FILE_MAX 65536

/* ---- where we are ---- */

/* PRETTY_NAME of os-release(5): a file of root's. */
static void read_distribution(char *out, size_t size)
{
    static const char key[] = "\nPRETTY_NAME=";
    auto_free char *text = NULL;
    const char *value;

    (void)snprintf(out, size, "not known");
    if (descriptor_read_file(AT_FDCWD, "/etc/os-release", SMALL_FILE_MAX, &text) < 0)
        return;
    value = text_starts_with(text, key + 1) ? text - 1 : strstr(text, key);
    if (!value)
        return;
    value += strlen(key);
    value += *value == '"';
    (void)snprintf(out, size, "%.*s", (int)strcspn(value, "\"\n"), value);
}

static void read_boot_id(char *out, size_t size)
{
    auto_free char *text = NULL;

    out[0] = '\0';
    if (descriptor_read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", SMALL_FILE_MAX, &text) <
        0)
        return;
    (void)snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
}

struct machine_report *machine_report_new(void)
{
    struct machine_report *report = calloc(1, sizeof(*report));
    struct utsname names;

    if (!report)
        return NULL;
    report->at_ms = clock_wall_ms();
    report->began_us = clock_monotonic_us();
    (void)uname(&names);
    (void)snprintf(report->kernel, sizeof(report->kernel), "%s %s", names.release, names.machine);
    (void)snprintf(report->host, sizeof(report->host), "%s", names.nodename);
    read_distribution(report->distribution, sizeof(report->distribution));
    read_boot_id(report->boot_id, sizeof(report->boot_id));
    return report;
}

/* ---- what the probe says ---- */

static void fill(struct rung *rung, const struct seam_message *message)
{
    const struct seam_probed *probed = message->fixed;
    const char *detail = seam_text(message, probed->detail);

    rung->state = (enum rung_state)probed->state;
    rung->error = probed->error;
    rung->value = probed->value;
    (void)snprintf(rung->detail, sizeof(rung->detail), "%s", detail ? detail : "");
}

void machine_report_take(struct machine_report *report, const struct seam_message *message)
{
    const struct seam_probed *probed = message->fixed;
    const char *name = seam_text(message, probed->facet);
    struct rung_facet *facet;

    if (probed->rung >= RUNG_COUNT || probed->state > RUNG_BROKEN)
        return;
    if (!name || !*name) {
        fill(&report->row.rungs[probed->rung], message);
        report->row.rungs[probed->rung].asked = true;
        return;
    }
    if (report->n_facets == RUNG_FACETS_MAX)
        return;
    facet = &report->facets[report->n_facets++];
    facet->rung = (enum rung_id)probed->rung;
    (void)snprintf(facet->name, sizeof(facet->name), "%s", name);
    fill(&facet->found, message);
}

static int listen_to(struct program_child *probe, struct machine_report *report)
{
    uint64_t deadline = clock_monotonic_us() + PROBE_SECONDS * 1000000ULL;
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
            machine_report_take(report, &message);
        seam_message_done(&message);
    }
}

/* ---- the row ---- */

static void log_row(const struct machine_row *machine)
{
    for (uint32_t i = 0; i < RUNG_COUNT; i++) {
        if (machine->rungs[i].state != RUNG_HOLDS && machine->rungs[i].state != RUNG_NEVER_ASKED)
            log_info("rung %s: %s: %s", rung_slug((enum rung_id)i),
                rung_state_name(machine->rungs[i].state), machine->rungs[i].detail);
    }
}

/* A rung that nobody told of says nothing, so it holds nothing up. */
static void break_what_is_missing(struct machine_report *report, int r)
{
    for (uint32_t i = 0; i < RUNG_COUNT; i++) {
        struct rung *rung = &report->row.rungs[i];

        if (rung->asked)
            continue;
        rung->state = RUNG_BROKEN;
        rung->error = r < 0 ? -r : 0;
        (void)snprintf(rung->detail, sizeof(rung->detail), "control: the probe %s before it",
            r == -ETIMEDOUT ? "hung" : "ended");
    }
}

void machine_report_adopt(struct warden *warden, struct machine_report *report, int r)
{
    break_what_is_missing(report, r);
    report->took_us = clock_monotonic_us() - report->began_us;
    r = ledger_machine_put(warden->ledger, report);
    if (r < 0)
        log_error("ledger: the machine row could not be written: %s", strerror(-r));
    warden->machine = report->row;
    free(warden->report);
    warden->report = report;
    log_row(&warden->machine);
}

int machine_measure(struct warden *warden)
{
    const char *const argv[] = {program_name(PROGRAM_PROBE), NULL};
    struct machine_report *report = machine_report_new();
    struct program_child probe;
    int r;

    if (!report)
        return -ENOMEM;
    r = program_start(warden, PROGRAM_PROBE, argv, warden->cgroup_base, &probe);
    if (r < 0) {
        free(report);
        return r;
    }
    r = listen_to(&probe, report);
    program_end(warden, &probe, NOBODY);
    machine_report_adopt(warden, report, r);
    return 0;
}

void machine_close(struct warden *warden)
{
    free(warden->report);
    warden->report = NULL;
}
