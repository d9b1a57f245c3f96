#include "answers.h"

#include "doors.h"
#include "ear.h"
#include "journal.h"
#include "kept_files.h"
#include "ledger.h"
#include "legs.h"
#include "log.h"
#include "outlets.h"
#include "rule_words.h"
#include "text.h"
#include "why.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

static uint64_t number_in(const struct seam_message *message)
{
    return ((const struct seam_ask_leg *)message->fixed)->leg;
}

uint64_t answer_visible_leg(
    struct front *front, const struct seam_message *message, uint64_t number)
{
    uint32_t owner;
    char detail[64];
    int r;

    r = ledger_owner(front->warden->ledger, number, &owner);
    if (r == 0 && may_see(&front->peer, owner, &front->warden->policy))
        return number;
    (void)snprintf(detail, sizeof(detail), "leg %llu", (unsigned long long)number);
    (void)front_refuse(front, message->header.request, REASON_LEG_UNKNOWN, detail);
    return 0;
}

static bool send_log(struct front *front, uint64_t request, uint64_t leg, uint32_t stream)
{
    struct seam_log log = {
        .leg = leg, .stream = stream, .running = legs_find(front->warden, leg) ? 1 : 0};
    auto_close int fd = -EBADF;
    struct seam_writer writer;

    if (kept_file_open(front->warden, leg, stream, &fd) < 0)
        return true; /* that stream was not kept: nothing to send */
    seam_writer_init(&writer, SEAM_LOG, request);
    return front_send(front, &writer, &log, &fd, 1);
}

void answer_logs(struct front *front, struct seam_message *message)
{
    uint64_t request = message->header.request,
             leg = answer_visible_leg(front, message, number_in(message));

    seam_message_done(message);
    if (leg == 0)
        return;
    for (uint32_t stream = 1; stream <= 2; stream++) {
        if (!send_log(front, request, leg, stream))
            return;
    }
    (void)front_end_reply(front, request, legs_find(front->warden, leg) ? 1 : 0);
}

void answer_kill(struct front *front, struct seam_message *message)
{
    uint64_t request = message->header.request,
             number = answer_visible_leg(front, message, number_in(message));
    struct leg *leg;

    seam_message_done(message);
    if (number == 0)
        return;
    /* Of two who kill one leg the second finds it ending or ended: both are told it is done. */
    leg = legs_find(front->warden, number);
    if (leg)
        leg_kill(leg, REASON_KILLED_BY_REQUEST);
    (void)front_end_reply(front, request, leg ? 1 : 0);
}

/* ---- the door ---- */

static bool on_list(const struct leg *leg, const struct host_pattern *pattern)
{
    for (uint32_t i = 0; i < leg->request.n_hosts; i++) {
        if (host_pattern_equal(&leg->request.hosts[i], pattern))
            return true;
    }
    return false;
}

/* The list as the warden has it, for what is told and counted; the door has its own. */
static void change_list(struct leg *leg, const struct host_pattern *pattern, bool deny)
{
    struct request *request = &leg->request;
    uint32_t kept = 0;

    if (!deny) {
        if (!on_list(leg, pattern))
            request->hosts[request->n_hosts++] = *pattern;
        return;
    }
    for (uint32_t i = 0; i < request->n_hosts; i++) {
        if (!host_pattern_covers(pattern, &request->hosts[i]))
            request->hosts[kept++] = request->hosts[i];
    }
    request->n_hosts = kept;
}

/* REASON_NONE: it was done. */
static enum reason change_door(struct front *front, struct leg *leg,
    const struct host_pattern *pattern, bool deny, const char **ret_detail)
{
    *ret_detail = "";
    if (!leg || !leg->door || !leg->door_ready || leg->state != LEG_RUNNING) {
        *ret_detail = "it does not run, or has no door";
        return REASON_LEG_UNKNOWN;
    }
    if (!deny && !may_allow(&front->peer, pattern, &front->warden->policy)) {
        *ret_detail = "no rule that names you lets it";
        return REASON_HOST_OUTSIDE_CEILING;
    }
    if (!deny && leg->request.n_hosts == HOSTS_MAX && !on_list(leg, pattern)) {
        *ret_detail = "the list is full";
        return REASON_REQUEST_TOO_BIG;
    }
    if (!door_change(leg->door, deny ? SEAM_DOOR_DENY : SEAM_DOOR_ALLOW, pattern)) {
        *ret_detail = "the door takes no message";
        return REASON_OUT_OF_RESOURCES;
    }
    change_list(leg, pattern, deny);
    return REASON_NONE;
}

void answer_door(struct front *front, struct seam_message *message)
{
    const struct seam_ask_door *ask = message->fixed;
    uint64_t request = message->header.request,
             number = answer_visible_leg(front, message, ask->leg);
    bool deny = ask->deny != 0;
    char subject[HOST_TEXT_MAX], by[64];
    struct host_pattern pattern;
    enum reason reason = REASON_REQUEST_MALFORMED;
    const char *detail = "host";

    if (number != 0 && seam_host(message, &ask->host, &pattern))
        reason = change_door(front, legs_find(front->warden, number), &pattern, deny, &detail);
    seam_message_done(message);
    if (number == 0)
        return;
    if (reason != REASON_NONE) {
        (void)front_refuse(front, request, reason, detail);
        return;
    }
    host_pattern_format(&pattern, subject);
    (void)snprintf(by, sizeof(by), "%s by uid %u", deny ? "denied" : "allowed", front->peer.uid);
    /* The answer first: telling the leg's own front may end that one, never this one. */
    journal_door(legs_find(front->warden, number), EVENT_DOOR, REASON_NONE, subject, by);
    if (front_end_reply(front, request, 1))
        leg_tell(legs_find(front->warden, number), EVENT_DOOR, REASON_NONE, NULL, subject, by);
}

/* ---- why ---- */

static bool send_why(
    struct front *front, uint64_t request, uint64_t leg, const char *path, char *lines, size_t size)
{
    static struct why_area areas[WHY_AREAS_MAX]; /* filled anew each time */
    struct why_answer answer;
    struct seam_writer writer;
    struct seam_why why;
    size_t count = 0;

    for (char *at = lines, *next; at < lines + size && count < array_size(areas); at = next) {
        next = at + strlen(at) + 1; /* before the line is cut */
        if (why_parse(at, &areas[count]) == 0)
            count++;
    }
    why_decide(areas, count, path, &answer);
    seam_writer_init(&writer, SEAM_WHY, request);
    why = (struct seam_why){.leg = leg,
        .kind = answer.kind,
        .read = answer.read,
        .write = answer.write,
        .execute = answer.execute,
        .depends = answer.depends};
    why.path = seam_put_text(&writer, path);
    why.area = seam_put_text(&writer, answer.area);
    return front_send(front, &writer, &why, NULL, 0);
}

void answer_why(struct front *front, struct seam_message *message)
{
    const struct seam_ask_why *ask = message->fixed;
    uint64_t request = message->header.request, leg = answer_visible_leg(front, message, ask->leg);
    const char *path = seam_text(message, ask->path);
    auto_free char *lines = NULL;
    size_t size = 0;
    int r = leg == 0 ? 0 : ledger_boundary(front->warden->ledger, leg, &lines, &size);

    if (leg != 0 && r == -ENOENT)
        (void)front_refuse(front, request, REASON_LEG_UNKNOWN, "its boundary is not recorded");
    else if (leg != 0 && r < 0)
        (void)front_refuse(front, request, REASON_LEDGER_FAILED, "its boundary could not be read");
    else if (leg != 0 && (!path || !text_path_is_normal(path)))
        (void)front_refuse(front, request, REASON_REQUEST_MALFORMED, "path");
    else if (leg != 0 && send_why(front, request, leg, path, lines, size))
        (void)front_end_reply(front, request, 0);
    seam_message_done(message);
}

/* ---- status ---- */

static bool send_status(struct front *front, uint64_t request)
{
    const struct warden *warden = front->warden;
    struct seam_status status = {.legs_running = warden->n_legs,
        .slots_ready = warden->n_slots_ready,
        .legs_since_start = warden->legs_since_start,
        .started_ms = warden->started_ms,
        .pid = (uint32_t)getpid(),
        .healthy = 1};
    struct seam_writer writer;
    struct ear_count denials;
    struct utsname kernel;

    (void)uname(&kernel);
    status.denials_heard = ear_counts(warden, &denials);
    status.denials_told = denials.heard;
    status.denials_unjoined = denials.unjoined;
    status.denials_lost = denials.lost;
    seam_writer_init(&writer, SEAM_STATUS, request);
    status.version = seam_put_text(&writer, SAPHAN_VERSION);
    status.kernel = seam_put_text(&writer, kernel.release);
    status.socket = seam_put_text(&writer, warden->options.socket);
    status.state_directory = seam_put_text(&writer, warden->options.state);
    status.problem = seam_put_text(&writer, NULL);
    return front_send(front, &writer, &status, NULL, 0);
}

static bool send_rung(struct front *front, uint64_t request, enum rung_id id)
{
    const struct rung *rung = &front->warden->machine.rungs[id];
    struct seam_rung out = {
        .rung = id, .state = rung->state, .error = rung->error, .value = rung->value};
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_RUNG, request);
    out.detail = seam_put_text(&writer, rung->detail);
    out.facet = SEAM_TEXT_ABSENT;
    return front_send(front, &writer, &out, NULL, 0);
}

static bool send_rule(struct front *front, uint64_t request, const struct rule *rule)
{
    struct seam_rule out = {0};
    struct rule_words words;
    struct seam_writer writer;

    rule_words(rule, &words);
    seam_writer_init(&writer, SEAM_RULE, request);
    out.name = seam_put_text(&writer, rule->name);
    out.file = seam_put_text(&writer, rule->file);
    out.boundaries = seam_put_text(&writer, words.boundaries);
    out.views = seam_put_text(&writer, words.views);
    out.nets = seam_put_text(&writer, words.nets);
    out.vendors = seam_put_text(&writer, words.vendors);
    out.read = seam_put_text(&writer, words.read);
    out.write = seam_put_text(&writer, words.write);
    out.limits = seam_put_text(&writer, words.limits);
    out.hosts = seam_put_text(&writer, words.hosts);
    out.capabilities = seam_put_text(&writer, words.capabilities);
    return front_send(front, &writer, &out, NULL, 0);
}

void answer_status(struct front *front, struct seam_message *message)
{
    const struct policy *policy = &front->warden->policy;
    uint64_t request = message->header.request;

    seam_message_done(message);
    if (!send_status(front, request))
        return;
    for (uint32_t i = 0; i < RUNG_COUNT; i++) {
        if (!send_rung(front, request, (enum rung_id)i))
            return;
    }
    for (size_t i = 0; i < policy->n_rules; i++) {
        if (rule_names(&policy->rules[i], &front->peer) &&
            !send_rule(front, request, &policy->rules[i]))
            return;
    }
    (void)front_end_reply(front, request, 0);
}
