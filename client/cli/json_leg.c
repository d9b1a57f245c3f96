#include "json_leg.h"

#include <string.h>
#include <sys/wait.h>

static json_t *list(const char *const *texts)
{
    json_t *out = json_array();

    for (size_t i = 0; out && texts[i]; i++)
        (void)json_array_append_new(out, json_text(texts[i]));
    return out;
}

/* "a,b" as ["a", "b"]. */
static json_t *slugs(const char *text)
{
    json_t *out = json_array();

    while (out && *text) {
        size_t length = strcspn(text, ",");

        if (length > 0)
            (void)json_array_append_new(out, json_stringn(text, length));
        text += length + (text[length] == ',');
    }
    return out;
}

static json_t *limits(const struct saphan_limits *limits)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "tasks", (json_int_t)limits->tasks, "memory",
        (json_int_t)limits->memory, "cpu_percent", (json_int_t)limits->cpu_percent, "wall_ms",
        (json_int_t)limits->wall_ms, "output", (json_int_t)limits->output, "files",
        (json_int_t)limits->files);
}

static json_t *time_or_null(int64_t at_ms)
{
    return at_ms != 0 ? json_integer(at_ms) : json_null();
}

static json_t *ending(const struct saphan_leg *leg)
{
    if (!leg->exited)
        return json_null();
    if (WIFEXITED(leg->wait_status))
        return json_pack("{s:i}", "exit", WEXITSTATUS(leg->wait_status));
    return json_pack("{s:i, s:b}", "signal", WTERMSIG(leg->wait_status), "core",
        WCOREDUMP(leg->wait_status) ? 1 : 0);
}

json_t *json_leg(const struct saphan_event *event)
{
    const struct saphan_leg *leg = &event->row;
    bool over = leg->state == SAPHAN_LEG_ENDED;

    return json_pack("{s:s, s:s, s:I, s:I, s:o, s:s, s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, "
                     "s:o, s:o, s:o, s:o, s:o, s:b, s:b}",
        "schema", JSON_SCHEMA_LEGS, "event", "leg", "leg", (json_int_t)event->leg, "uid",
        (json_int_t)leg->uid, "user", json_text(leg->user), "state",
        saphan_leg_state_name(leg->state), "colour",
        over ? json_string(saphan_colour_name(leg->colour)) : json_null(), "boundary",
        saphan_boundary_name(leg->boundary), "view", saphan_view_name(leg->view), "net",
        saphan_net_name(leg->net), "vendor", json_text(leg->vendor), "argv", list(leg->argv),
        "directory", json_text(leg->directory), "grants", list(leg->grants), "asked_ms",
        time_or_null(leg->asked_ms), "ended_ms", time_or_null(leg->ended_ms), "ended", ending(leg),
        "client_status", over ? json_integer(leg->client_status) : json_null(), "reasons",
        slugs(leg->reasons), "limits", limits(&leg->limits), "detach", leg->detach ? 1 : 0, "cut",
        leg->cut ? 1 : 0);
}
