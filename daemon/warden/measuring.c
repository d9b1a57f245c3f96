#include "measuring.h"

#include "cells.h"
#include "ledger_machine.h"
#include "log.h"
#include "machine.h"
#include "properties.h"
#include "undertaker.h"
#include <errno.h>

struct measuring {
    struct warden *warden;
    struct front *front; /* NULL: it is gone */
    uint64_t request;
    struct program_child probe;
    struct event *readable, *deadline;
    struct machine_report *report;
};

/* ---- the answer ---- */

static bool send_machine(struct front *front, uint64_t request, const struct machine_report *report)
{
    struct seam_machine out = {
        .at_ms = report->at_ms, .took_us = report->took_us, .row = report->number};
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_MACHINE, request);
    out.kernel = seam_put_text(&writer, report->kernel);
    out.distribution = seam_put_text(&writer, report->distribution);
    out.boot_id = seam_put_text(&writer, report->boot_id);
    out.host = seam_put_text(&writer, report->host);
    out.version = seam_put_text(&writer, SAPHAN_VERSION);
    out.command = seam_put_text(&writer, MACHINE_COMMAND);
    return front_send(front, &writer, &out, NULL, 0);
}

static bool send_found(struct front *front, uint64_t request, enum rung_id id,
    const struct rung *found, const char *facet)
{
    struct seam_rung out = {
        .rung = id, .state = found->state, .error = found->error, .value = found->value};
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_RUNG, request);
    out.detail = seam_put_text(&writer, found->detail);
    out.facet = seam_put_text(&writer, facet);
    return front_send(front, &writer, &out, NULL, 0);
}

static bool send_rungs(struct front *front, uint64_t request, const struct machine_report *report)
{
    for (uint32_t i = 0; i < RUNG_COUNT; i++) {
        if (!send_found(front, request, (enum rung_id)i, &report->row.rungs[i], NULL))
            return false;
        for (uint32_t k = 0; k < report->n_facets; k++) {
            const struct rung_facet *facet = &report->facets[k];

            if (facet->rung == i &&
                !send_found(front, request, facet->rung, &facet->found, facet->name))
                return false;
        }
    }
    return true;
}

static bool send_properties(struct front *front, uint64_t request)
{
    struct cell_counts cells;

    cells_count(front->warden, &cells);
    for (int i = 0; i < PROPERTY_COUNT; i++) {
        char detail[PROPERTY_DETAIL_MAX];
        struct seam_property out = {
            .state = property_judge((enum property)i, &front->warden->machine, &cells, detail)};
        struct seam_writer writer;

        seam_writer_init(&writer, SEAM_PROPERTY, request);
        out.slug = seam_put_text(&writer, property_slug((enum property)i));
        out.meaning = seam_put_text(&writer, property_meaning((enum property)i));
        out.detail = seam_put_text(&writer, detail);
        if (!front_send(front, &writer, &out, NULL, 0))
            return false;
    }
    return true;
}

static void answer(struct front *front, uint64_t request)
{
    const struct machine_report *report = front->warden->report;

    if (send_machine(front, request, report) && send_rungs(front, request, report) &&
        send_properties(front, request))
        (void)front_end_reply(front, request, 0);
}

/* ---- measuring again ---- */

static void measuring_free(struct measuring *measuring)
{
    measuring->warden->measuring = NULL;
    if (measuring->readable)
        event_free(measuring->readable);
    if (measuring->deadline)
        event_free(measuring->deadline);
    program_end(measuring->warden, &measuring->probe, NOBODY);
    free(measuring->report);
    free(measuring);
}

static void finish(struct measuring *measuring, int r)
{
    struct warden *warden = measuring->warden;
    struct front *front = measuring->front;
    uint64_t request = measuring->request;

    machine_report_adopt(warden, steal_ptr(measuring->report), r);
    measuring_free(measuring);
    if (front)
        answer(front, request);
}

static void told(evutil_socket_t fd, short what, void *context)
{
    struct measuring *measuring = context;
    struct seam_message message;
    int r = seam_receive(fd, &message);

    if (r == -EAGAIN)
        return;
    if (r != 0) {
        finish(measuring, r == SEAM_E_CLOSED ? 0 : -EBADMSG);
        return;
    }
    if (message.header.type == SEAM_PROBED)
        machine_report_take(measuring->report, &message);
    seam_message_done(&message);
}

static void too_late(evutil_socket_t fd, short what, void *context)
{
    finish(context, -ETIMEDOUT);
}

static int begin(struct warden *warden, struct measuring *measuring)
{
    static const struct timeval at_most = {.tv_sec = PROBE_SECONDS};
    const char *const argv[] = {program_name(PROGRAM_PROBE), NULL};
    int r;

    measuring->report = machine_report_new();
    if (!measuring->report)
        return -ENOMEM;
    r = program_start(warden, PROGRAM_PROBE, argv, warden->cgroup_base, &measuring->probe);
    if (r < 0)
        return r;
    measuring->readable =
        event_new(warden->loop, measuring->probe.channel, EV_READ | EV_PERSIST, told, measuring);
    measuring->deadline = evtimer_new(warden->loop, too_late, measuring);
    if (!measuring->readable || !measuring->deadline || event_add(measuring->readable, NULL) < 0 ||
        event_add(measuring->deadline, &at_most) < 0)
        return -ENOMEM;
    return 0;
}

static void measure_again(struct front *front, uint64_t request)
{
    struct warden *warden = front->warden;
    struct measuring *measuring;

    if (!may_measure(&front->peer, &warden->policy)) {
        (void)front_refuse(front, request, REASON_MEASURE_NOT_ALLOWED, "the machine");
        return;
    }
    if (warden->measuring) {
        (void)front_refuse(front, request, REASON_MEASURE_BUSY, "somebody else asked for it");
        return;
    }
    measuring = calloc(1, sizeof(*measuring));
    if (!measuring) {
        (void)front_refuse(front, request, REASON_OUT_OF_RESOURCES, "memory");
        return;
    }
    measuring->warden = warden;
    measuring->front = front;
    measuring->request = request;
    measuring->probe = (struct program_child){.pidfd = -EBADF, .channel = -EBADF};
    warden->measuring = measuring;
    if (begin(warden, measuring) < 0) {
        measuring_free(measuring);
        (void)front_refuse(front, request, REASON_OUT_OF_RESOURCES, "the probe was not started");
    }
}

void answer_machine(struct front *front, struct seam_message *message)
{
    const struct seam_ask_machine *ask = message->fixed;
    uint64_t request = message->header.request;
    bool measure = ask->measure != 0;

    seam_message_done(message);
    if (measure)
        measure_again(front, request);
    else
        answer(front, request);
}

void measuring_forget(struct front *front)
{
    if (front->warden->measuring && front->warden->measuring->front == front)
        front->warden->measuring->front = NULL;
}

void measuring_close(struct warden *warden)
{
    if (warden->measuring)
        measuring_free(warden->measuring);
    machine_close(warden);
}
