#include "json_report.h"

#include "fault.h"
#include "json.h"
#include "own.h"
#include "say.h"
#include <string.h>
#include <sys/wait.h>

static json_t *begin(const char *event, const struct saphan_event *from)
{
    json_t *object = json_pack("{s:s, s:s}", "schema", JSON_SCHEMA_RUN, "event", event);

    if (object && from->leg != 0)
        (void)json_object_set_new(object, "leg", json_integer((json_int_t)from->leg));
    if (object && from->at_ms != 0)
        (void)json_object_set_new(object, "at_ms", json_integer(from->at_ms));
    return object;
}

/* EXTRA is consumed; what is in it is added to OBJECT. */
static int finish(json_t *object, json_t *extra)
{
    if (!object || !extra || json_object_update(object, extra) < 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(extra);
    return json_line(object);
}

static json_t *text_or_null(const char *text)
{
    return text[0] ? json_text(text) : json_null();
}

/* {"exit": 3} or {"signal": 9, "core": false}. */
static json_t *ending(int wait_status)
{
    if (WIFEXITED(wait_status))
        return json_pack("{s:i}", "exit", WEXITSTATUS(wait_status));
    return json_pack(
        "{s:i, s:b}", "signal", WTERMSIG(wait_status), "core", WCOREDUMP(wait_status) ? 1 : 0);
}

static json_t *told(const struct saphan_event *event)
{
    const struct saphan_told *told = &event->told;

    switch (event->kind) {
    case SAPHAN_EVENT_ACCEPTED:
        return json_object();
    case SAPHAN_EVENT_STARTED:
        return json_pack("{s:I}", "pid", (json_int_t)told->pid);
    case SAPHAN_EVENT_DENIED:
        return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I}", "subject", json_text(told->subject),
            "detail", json_text(told->detail), "reason", text_or_null(told->reason), "count",
            (json_int_t)told->count, "first_ms", (json_int_t)told->first_ms, "last_ms",
            (json_int_t)told->last_ms);
    case SAPHAN_EVENT_ARTEFACT:
        return json_pack("{s:o, s:o, s:o, s:o}", "path", json_text(told->subject), "reason",
            text_or_null(told->reason), "size",
            told->size >= 0 ? json_integer(told->size) : json_null(), "sha256",
            text_or_null(told->detail));
    case SAPHAN_EVENT_CONNECTED:
        return json_pack("{s:o, s:o, s:I}", "subject", json_text(told->subject), "detail",
            json_text(told->detail), "connection", (json_int_t)told->connection);
    case SAPHAN_EVENT_DISCONNECTED:
        return json_pack("{s:o, s:I, s:I, s:I, s:o}", "subject", json_text(told->subject),
            "connection", (json_int_t)told->connection, "bytes_out", (json_int_t)told->bytes_out,
            "bytes_in", (json_int_t)told->bytes_in, "reason", text_or_null(told->reason));
    case SAPHAN_EVENT_EXITED:
        return json_pack("{s:o, s:I, s:I}", "ended", ending((int)told->wait_status), "cpu_us",
            (json_int_t)told->cpu_us, "max_rss", (json_int_t)told->max_rss);
    default:
        return json_pack("{s:o, s:o, s:o}", "subject", text_or_null(told->subject), "detail",
            json_text(told->detail), "reason", text_or_null(told->reason));
    }
}

static json_t *reasons(const struct saphan_reason *list, size_t count)
{
    json_t *out = json_array();

    for (size_t i = 0; out && i < count; i++)
        (void)json_array_append_new(
            out, json_pack("{s:o, s:o, s:o, s:o}", "reason", json_text(list[i].slug), "detail",
                     text_or_null(list[i].detail), "meaning", json_text(list[i].meaning), "remedy",
                     json_text(list[i].remedy)));
    return out;
}

static json_t *claims(const struct saphan_claim *list, size_t count)
{
    json_t *out = json_array();

    for (size_t i = 0; out && i < count; i++) {
        json_t *rungs = json_array();

        for (size_t k = 0; rungs && list[i].rungs[k]; k++)
            (void)json_array_append_new(rungs, json_text(list[i].rungs[k]));
        (void)json_array_append_new(
            out, json_pack("{s:o, s:o, s:o}", "claim", json_text(list[i].slug), "meaning",
                     json_text(list[i].meaning), "rungs", rungs));
    }
    return out;
}

static json_t *verdict(const struct saphan_event *event)
{
    const struct saphan_verdict *verdict = &event->verdict;

    return json_pack("{s:s, s:i, s:o, s:I, s:o, s:o, s:b, s:o}", "colour",
        saphan_colour_name(verdict->colour), "client_status", verdict->client_status, "ended",
        verdict->exited ? ending(verdict->wait_status) : json_null(), "wall_us",
        (json_int_t)verdict->wall_us, "reasons", reasons(verdict->reasons, verdict->n_reasons),
        "claims", claims(verdict->claims, verdict->n_claims), "egress_cut",
        verdict->egress_cut ? 1 : 0, "kept", text_or_null(verdict->kept));
}

/* ---- output ---- */

/* How many bytes at the end of BYTES begin a UTF-8 character that is not whole. */
static size_t cut_length(const unsigned char *bytes, size_t size)
{
    for (size_t back = 1; back <= 3 && back <= size; back++) {
        unsigned char c = bytes[size - back];
        size_t whole = c > 0xf4 || c < 0xc2 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

        if ((c & 0xc0) == 0x80)
            continue;
        return whole > back ? back : 0;
    }
    return 0;
}

/* Output frames name no leg: it is that of the run. */
static int output_line(const struct json_report *report, unsigned int stream, const void *bytes,
    size_t size, uint64_t lost)
{
    const struct saphan_event of_leg = {.leg = report->leg};
    json_t *data = json_stringn(bytes, size);
    const char *encoding = data ? "utf-8" : "base64";

    if (!data)
        data = json_base64(bytes, size);
    return finish(begin("output", &of_leg),
        json_pack("{s:s, s:o, s:s, s:I}", "stream", stream == 1 ? "stdout" : "stderr", "data", data,
            "encoding", encoding, "lost", (json_int_t)lost));
}

static int flush_cut(struct json_report *report, unsigned int stream)
{
    size_t size = report->n_cut[stream - 1];

    report->n_cut[stream - 1] = 0;
    return size == 0 ? 0 : output_line(report, stream, report->cut[stream - 1], size, 0);
}

static int report_output(struct json_report *report, const struct saphan_event *event)
{
    const struct saphan_output *output = &event->output;
    unsigned int index = output->stream - 1;
    size_t held = report->n_cut[index], size, cut;
    auto_free unsigned char *joined = NULL;
    int r;

    if (output->lost > 0) {
        r = flush_cut(report, output->stream);
        if (r != 0)
            return r;
        held = 0;
    }
    size = held + output->size;
    joined = malloc(size + 1);
    if (!joined)
        return say("out of memory for output");
    memcpy(joined, report->cut[index], held);
    if (output->size > 0)
        memcpy(joined + held, output->bytes, output->size);
    cut = cut_length(joined, size);
    memcpy(report->cut[index], joined + size - cut, cut);
    report->n_cut[index] = cut;
    if (size == cut && output->lost == 0)
        return 0;
    return output_line(report, output->stream, joined, size - cut, output->lost);
}

int json_report_event(
    struct json_report *report, const struct saphan_event *event, const char *advice)
{
    int r;

    if (event->leg != 0)
        report->leg = event->leg;
    if (event->kind == SAPHAN_EVENT_OUTPUT)
        return report_output(report, event);
    if (event->kind != SAPHAN_EVENT_VERDICT && event->kind != SAPHAN_EVENT_REFUSED)
        return finish(begin(event->told.kind, event), told(event));
    r = flush_cut(report, 1);
    if (r == 0)
        r = flush_cut(report, 2);
    if (r != 0)
        return r;
    if (event->kind == SAPHAN_EVENT_VERDICT)
        return finish(begin("verdict", event), verdict(event));
    return finish(begin("refused", event),
        json_pack("{s:i, s:o, s:o}", "client_status", event->refused.client_status, "reasons",
            reasons(event->refused.reasons, event->refused.n_reasons), "hint",
            text_or_null(advice ? advice : "")));
}

int json_report_failed(const struct saphan_error *error)
{
    return json_line(json_pack("{s:s, s:s, s:s, s:o, s:o, s:i}", "schema", JSON_SCHEMA_RUN, "event",
        "failed", "step", error->step, "errno",
        error->error ? json_string(fault_errno_name(error->error)) : json_null(), "message",
        json_text(error->message), "client_status", EXIT_OURS));
}
