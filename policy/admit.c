#include "admit.h"

#include "admit_parts.h"
#include "text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LEGS_AT_ONCE 64      /* where the rule says nothing */
#define LEGS_PER_MINUTE 6000 /* the same */
#define ID_MAX 65535         /* a leg's user namespace maps 0 to this */

void refuse(struct refusals *refusals, enum reason reason, const char *format, ...)
{
    char detail[2 * REFUSAL_DETAIL_MAX];
    struct refusal *refusal;
    va_list args;

    if (refusals->count == REFUSALS_MAX)
        return;
    va_start(args, format);
    (void)vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    refusal = &refusals->list[refusals->count++];
    refusal->reason = reason;
    text_escape(detail, refusal->detail, sizeof(refusal->detail));
}

bool grant_writes(enum grant_kind kind)
{
    return kind != GRANT_READ && kind != GRANT_SEAT_READ;
}

static void format_size(uint64_t value, char out[LIMIT_TEXT_MAX])
{
    static const char units[] = {'\0', 'K', 'M', 'G', 'T'};
    size_t unit = 0;

    while (unit + 1 < sizeof(units) && value > 0 && value % 1024 == 0) {
        value /= 1024;
        unit++;
    }
    (void)snprintf(
        out, LIMIT_TEXT_MAX, "%llu%.1s", (unsigned long long)value, unit ? &units[unit] : "");
}

void limit_format(enum limit_id limit, uint64_t value, char out[LIMIT_TEXT_MAX])
{
    if (limit == LIMIT_MEMORY || limit == LIMIT_OUTPUT)
        format_size(value, out);
    else if (limit == LIMIT_WALL && value % 1000 == 0)
        (void)snprintf(out, LIMIT_TEXT_MAX, "%llus", (unsigned long long)value / 1000);
    else
        (void)snprintf(out, LIMIT_TEXT_MAX, "%llu%s", (unsigned long long)value,
            limit == LIMIT_WALL ? "ms" : "");
}

/* -- the request, whoever asks -- */

/* What no policy can let. */
static void judge_unavailable(const struct asked *asked, struct refusals *refusals)
{
    const struct nesting *nesting = asked->request->nesting;

    if (asked->boundary == BOUNDARY_NONE && nesting && nesting->bypass[0])
        refuse(refusals, REASON_BYPASS_WITHOUT_BOUNDARY, "asked: boundary none, with %s of %.64s",
            nesting->bypass, asked->vendor);
    if (asked->boundary == BOUNDARY_NONE)
        refuse(refusals, REASON_BOUNDARY_NONE, "asked: boundary none; built: domain, container");
    if (asked->net == NET_LANDLOCK && asked->boundary == BOUNDARY_CONTAINER)
        refuse(refusals, REASON_NET_UNAVAILABLE,
            "asked: net landlock-net in a container, above which no Landlock domain stands");
    if (!asked->request->profile && !text_equal(asked->vendor, "proc"))
        refuse(refusals, REASON_VENDOR_UNKNOWN, "asked: vendor %.64s; there are: %s", asked->vendor,
            asked->request->known_vendors ? asked->request->known_vendors : "none");
}

static void judge_counts(const struct request *request, struct refusals *refusals)
{
    if (request->n_grants > GRANTS_MAX)
        refuse(refusals, REASON_GRANTS_TOO_MANY, "asked: %u grants; at most %d fit",
            request->n_grants, GRANTS_MAX);
    if (request->n_artefacts > ARTEFACTS_MAX)
        refuse(refusals, REASON_REQUEST_TOO_BIG, "asked: %u artefacts; at most %d fit",
            request->n_artefacts, ARTEFACTS_MAX);
    if (request->n_carve_outs > CARVE_OUTS_MAX)
        refuse(refusals, REASON_REQUEST_TOO_BIG, "asked: %u carve-outs; at most %d fit",
            request->n_carve_outs, CARVE_OUTS_MAX);
}

static void judge_grant_form(
    const struct request *request, const struct grant *grant, struct refusals *refusals)
{
    bool git = grant->kind == GRANT_GIT_DIR || grant->kind == GRANT_GIT_COMMON;

    if (grant->kind < GRANT_READ || grant->kind > GRANT_SEAT_READ ||
        (grant->kind == GRANT_SEAT_READ && !grant->narrowed))
        refuse(
            refusals, REASON_REQUEST_MALFORMED, "a grant of the unknown kind %d", (int)grant->kind);
    else if (!grant->path || !text_path_is_normal(grant->path))
        refuse(
            refusals, REASON_REQUEST_MALFORMED, "the path of a grant is not absolute and normal");
    else if (git && !request->git)
        refuse(refusals, REASON_REQUEST_MALFORMED, "asked: %s %.150s, without git",
            grant_kind_name(grant->kind), grant->path);
}

/* Hosts and forwards without a door would be wishes that nobody fulfils. */
static void judge_outlets(const struct asked *asked, struct refusals *refusals)
{
    const struct request *request = asked->request;

    if (request->n_hosts > HOSTS_MAX || request->n_forwards > FORWARDS_MAX)
        refuse(refusals, REASON_REQUEST_TOO_BIG,
            "asked: %u hosts, %u forwards; at most %d and %d fit", request->n_hosts,
            request->n_forwards, HOSTS_MAX, FORWARDS_MAX);
    else if (request->n_hosts + request->n_forwards > 0 && asked->net != NET_DOOR)
        refuse(refusals, REASON_REQUEST_MALFORMED,
            "asked: hosts or forwards, with net %s; they need net door", net_name(asked->net));
    for (uint32_t i = 0; i < request->n_hosts && i < HOSTS_MAX; i++) {
        if (!host_pattern_is_canonical(&request->hosts[i], false))
            refuse(refusals, REASON_REQUEST_MALFORMED, "a host that is not canonical");
    }
    for (uint32_t i = 0; i < request->n_forwards && i < FORWARDS_MAX; i++) {
        if (!forward_is_canonical(&request->forwards[i]))
            refuse(refusals, REASON_REQUEST_MALFORMED,
                "asked: a forward of the port %u; it must not be 0, %d or %d, and its target must "
                "be canonical",
                request->forwards[i].port, DOOR_PORT_HTTP, DOOR_PORT_SOCKS);
        for (uint32_t k = 0; k < i; k++) {
            if (request->forwards[k].port == request->forwards[i].port)
                refuse(refusals, REASON_REQUEST_MALFORMED, "asked: two forwards of the port %u",
                    request->forwards[i].port);
        }
    }
}

/* The values a message could carry that the client of this version never sends. */
static void judge_form(const struct asked *asked, struct refusals *refusals)
{
    const struct request *request = asked->request;
    unsigned int kinds[GRANT_SEAT_READ + 1] = {0};

    if (asked->boundary < BOUNDARY_DOMAIN || asked->boundary > BOUNDARY_NONE)
        refuse(refusals, REASON_REQUEST_MALFORMED, "unknown boundary %d", (int)asked->boundary);
    if (asked->view < VIEW_MINIMAL || asked->view > VIEW_HOST)
        refuse(refusals, REASON_REQUEST_MALFORMED, "unknown view %d", (int)asked->view);
    if (asked->net < NET_NONE || asked->net > NET_LAST)
        refuse(refusals, REASON_REQUEST_MALFORMED, "unknown network mode %d", (int)asked->net);
    for (uint32_t i = 0; i < request->n_grants && i < GRANTS_MAX; i++) {
        uint32_t before = refusals->count;

        judge_grant_form(request, &request->grants[i], refusals);
        if (refusals->count == before)
            kinds[request->grants[i].kind]++;
    }
    for (unsigned int kind = GRANT_WORKSPACE; kind <= GRANT_GIT_COMMON; kind++) {
        if (kinds[kind] > 1)
            refuse(refusals, REASON_REQUEST_MALFORMED, "asked: %u grants of kind %s; one can be",
                kinds[kind], grant_kind_name((enum grant_kind)kind));
    }
    if (request->git && !kinds[GRANT_WORKSPACE] && refusals->count == 0)
        refuse(refusals, REASON_REQUEST_MALFORMED, "asked: git, without a workspace to commit in");
    judge_outlets(asked, refusals);
    if (request->chdir && request->chdir[0] != '/')
        refuse(refusals, REASON_REQUEST_MALFORMED,
            "asked: the directory %.150s; it must be absolute", request->chdir);
}

static void judge_grants(const struct request *request, struct refusals *refusals)
{
    for (uint32_t i = 0; i < request->n_grants; i++) {
        const struct grant *grant = &request->grants[i];

        if (grant->kind >= GRANT_WORKSPACE && !grant->directory)
            refuse(refusals, REASON_GRANT_TYPE, "asked: %s %.150s; it is a file, not a directory",
                grant_kind_name(grant->kind), grant->path);
        if (grant->covers_own && grant_writes(grant->kind))
            refuse(refusals, REASON_GRANT_COVERS_SAPHAND, "asked: %s %.150s",
                grant_kind_name(grant->kind), grant->path);
    }
}

/* A group that cannot be mapped is not dropped: where a file shuts that group out, a leg without it
 * would have more rights than its requester. */
static void judge_identity(const struct peer *peer, struct refusals *refusals)
{
    if (peer->uid > ID_MAX)
        refuse(
            refusals, REASON_IDENTITY_OUT_OF_RANGE, "uid %u; mapped: 0 to %d", peer->uid, ID_MAX);
    if (peer->gid > ID_MAX)
        refuse(
            refusals, REASON_IDENTITY_OUT_OF_RANGE, "gid %u; mapped: 0 to %d", peer->gid, ID_MAX);
    if (peer->n_groups_unread)
        refuse(refusals, REASON_IDENTITY_OUT_OF_RANGE, "%u groups; at most %d fit",
            peer->n_groups_unread, GROUPS_MAX);
    for (uint32_t i = 0; i < peer->n_groups; i++) {
        if (peer->groups[i] > ID_MAX)
            refuse(refusals, REASON_IDENTITY_OUT_OF_RANGE, "group %u; mapped: 0 to %d",
                peer->groups[i], ID_MAX);
    }
}

/* -- the rule's numbers, the machine -- */

static void judge_usage(
    const struct rule *rule, const struct usage *usage, struct refusals *refusals)
{
    uint64_t at_once = rule->legs_at_once ? rule->legs_at_once : LEGS_AT_ONCE;
    uint64_t per_minute = rule->legs_per_minute ? rule->legs_per_minute : LEGS_PER_MINUTE;

    if (usage->legs_now >= at_once)
        refuse(refusals, REASON_LEGS_TOO_MANY, "%llu run; the rule `%s` of %.80s lets %llu at once",
            (unsigned long long)usage->legs_now, rule->name, rule->file,
            (unsigned long long)at_once);
    if (usage->legs_last_minute >= per_minute)
        refuse(refusals, REASON_LEGS_TOO_OFTEN,
            "%llu in the last minute; the rule `%s` of %.80s lets %llu",
            (unsigned long long)usage->legs_last_minute, rule->name, rule->file,
            (unsigned long long)per_minute);
}

/* What holds for a leg: what it asked, else what the rule gives, else the rule's ceiling. */
static void settle_limits(
    const struct request *request, const struct rule *rule, struct limits *ret)
{
    *ret = (struct limits){
        .tasks = request->limits.tasks,
        .memory = request->limits.memory,
        .cpu_percent = request->limits.cpu_percent,
        .wall_ms = request->limits.wall_ms,
        .output = request->limits.output,
        .files = request->limits.files,
    };
#define SETTLE(field)                                                                              \
    if (!ret->field)                                                                               \
    ret->field = rule->standard.field ? rule->standard.field : rule->ceiling.field
    SETTLE(tasks);
    SETTLE(memory);
    SETTLE(cpu_percent);
    SETTLE(wall_ms);
    SETTLE(output);
    SETTLE(files);
#undef SETTLE
}

/* "absent: landlock_create_ruleset: ENOSYS" */
#define FOUND_MAX (RUNG_DETAIL_MAX + 20)

static void format_found(const struct rung *rung, char out[FOUND_MAX])
{
    (void)snprintf(out, FOUND_MAX, "%s%s%.*s", rung_state_name(rung->state),
        rung->detail[0] ? ": " : "", RUNG_DETAIL_MAX - 1, rung->detail);
}

static const struct {
    enum limit_id limit;
    enum claim_id claim;
} limit_claims[] = {
    {LIMIT_TASKS, CLAIM_TASKS_BOUNDED},
    {LIMIT_MEMORY, CLAIM_MEMORY_BOUNDED},
    {LIMIT_CPU, CLAIM_CPU_BOUNDED},
};

static int back_one(enum claim_id claim, const struct decision *decision,
    const struct machine_row *machine, uint64_t *ret_rungs, enum rung_id *ret_missing)
{
    return decision->boundary == BOUNDARY_CONTAINER
               ? claim_back_in_container(claim, machine, ret_rungs, ret_missing)
               : claim_back(claim, machine, ret_rungs, ret_missing);
}

static void back_limits(const struct asked *asked, const struct machine_row *machine,
    struct decision *decision, struct refusals *refusals)
{
    for (size_t i = 0; i < array_size(limit_claims); i++) {
        enum limit_id limit = limit_claims[i].limit;
        uint64_t value = limits_get(&decision->limits, limit);
        bool by_request = limits_get(&asked->request->limits, limit) != 0;
        char text[LIMIT_TEXT_MAX], found[FOUND_MAX];
        enum rung_id missing;
        uint64_t rungs;

        if (!value)
            continue;
        if (back_one(limit_claims[i].claim, decision, machine, &rungs, &missing) == 0) {
            decision->claims[decision->n_claims++] =
                (struct backed_claim){limit_claims[i].claim, rungs};
            continue;
        }
        limit_format(limit, value, text);
        format_found(&machine->rungs[missing], found);
        refuse(refusals, REASON_LIMIT_UNENFORCEABLE, "%s: limit %s=%s; needs `%s`; found: %s",
            by_request ? "asked" : "the policy's", limit_name(limit), text, rung_slug(missing),
            found);
    }
}

static void judge_least(
    const struct request *request, const struct limits *settled, struct refusals *refusals)
{
    for (unsigned int i = 0; i < LIMIT_COUNT; i++) {
        enum limit_id limit = (enum limit_id)i;
        uint64_t value = limits_get(settled, limit);
        char text[LIMIT_TEXT_MAX], least[LIMIT_TEXT_MAX];

        if (!value || value >= limit_least(limit))
            continue;
        limit_format(limit, value, text);
        limit_format(limit, limit_least(limit), least);
        refuse(refusals, REASON_LIMIT_BELOW_LEAST, "%s: limit %s=%s; a leg needs at least %s",
            limits_get(&request->limits, limit) ? "asked" : "the policy's", limit_name(limit), text,
            least);
    }
}

/* The host's view shows folders with sockets in them, beside those that are covered (/run, /tmp):
 * no mount refuses to connect to one, and Landlock does from ABI 9 on. */
#define LANDLOCK_ABI_SOCKETS 9

static bool is_promised(
    enum claim_id claim, const struct decision *decision, const struct machine_row *machine)
{
    switch (claim) {
    case CLAIM_EGRESS_CUT:
        return decision->net == NET_NONE;
    case CLAIM_EGRESS_LISTED:
        return decision->net == NET_DOOR;
    case CLAIM_TCP_CUT:
        return decision->net == NET_LANDLOCK;
    case CLAIM_INTERNET_CUT:
        return decision->net == NET_CGROUP_BPF;
    case CLAIM_SOCKETS_SHUT:
        return !net_is_hosts(decision->net) &&
               (decision->view == VIEW_MINIMAL ||
                   machine->rungs[RUNG_LANDLOCK].value >= LANDLOCK_ABI_SOCKETS);
    /* Whoever may make a user namespace has capabilities in it, over nothing but its own. */
    case CLAIM_NO_PRIVILEGE:
        return !decision->nested_allowed && !decision->capabilities;
    case CLAIM_PRIVILEGE_LISTED:
        return !decision->nested_allowed && decision->capabilities;
    default:
        return claim <= CLAIM_ENDS_WHOLE; /* the others go by what was asked: back_limits() */
    }
}

static void back_claims(
    const struct machine_row *machine, struct decision *decision, struct refusals *refusals)
{
    for (unsigned int i = CLAIM_WRITE_CONFINED; i < CLAIM_COUNT; i++) {
        char found[FOUND_MAX];
        enum rung_id missing;
        uint64_t rungs;

        if (!is_promised((enum claim_id)i, decision, machine))
            continue;
        if (back_one((enum claim_id)i, decision, machine, &rungs, &missing) == 0) {
            decision->claims[decision->n_claims++] = (struct backed_claim){(enum claim_id)i, rungs};
            continue;
        }
        format_found(&machine->rungs[missing], found);
        refuse(refusals, REASON_CLAIM_UNBACKED, "claim `%s` wants `%s` to hold; found: %s",
            claim_slug((enum claim_id)i), rung_slug(missing), found);
    }
}

/* The vendor's own sandbox cannot stand inside ours: a leg that would find out while it runs is not
 * started.  Only a test may want to see it find out. */
static void judge_nesting(const struct rule *rule, const struct request *request,
    bool nested_allowed, struct refusals *refusals)
{
    if (!request->nesting || request->nesting->reason == REASON_NONE || rule->test_only_nested ||
        (request->measure && rule->may_measure))
        return;
    /* Only this is what a container can let through: that a file could not be read is no less. */
    if (nested_allowed && request->nesting->reason == REASON_NESTED_SANDBOX_REQUESTED) {
        /* user_namespaces(7): mapping root of the parent namespace takes CAP_SETFCAP in it. */
        if (request->image.root)
            refuse(refusals, REASON_NESTED_SANDBOX_REQUESTED,
                "%.400s; as root of the image without a capability it cannot: give --user",
                request->nesting->detail);
        return;
    }
    refuse(refusals, request->nesting->reason, "%s", request->nesting->detail);
}

/* Evidence before admission: no cell, one that says nothing any more, one that says no. */
static void judge_cell(
    const struct rule *rule, const struct asked *asked, struct refusals *refusals)
{
    const struct cell_standing *cell = asked->request->cell;
    char again[200];

    if (!rule->require_nests || asked->request->measure || !cell)
        return;
    (void)snprintf(again, sizeof(again),
        "measure it: saphan matrix measure --vendor %.32s --boundary %s ... -- TURN%s",
        asked->vendor, boundary_name(asked->boundary),
        text_equal(cell->sandbox, "off") ? " :: TURN-WITH-ITS-SANDBOX-ON" : "");
    if (cell->cell == 0)
        refuse(refusals, REASON_CELL_UNMEASURED,
            "%.32s in %s, its own sandbox %s: nobody looked; %s", asked->vendor,
            boundary_name(asked->boundary), cell->sandbox, again);
    else if (cell->stale[0])
        refuse(refusals, REASON_CELL_UNMEASURED, "cell %llu is stale: %s; %s",
            (unsigned long long)cell->cell, cell->stale, again);
    else if (cell->verdict == CELL_COLLIDES || cell->verdict == CELL_HANGS)
        refuse(refusals, REASON_CELL_COLLIDES, "cell %llu says %s: saphan matrix show %llu; %s",
            (unsigned long long)cell->cell, cell_verdict_name(cell->verdict),
            (unsigned long long)cell->cell, again);
    else if (cell->verdict != CELL_NESTS)
        refuse(refusals, REASON_CELL_UNMEASURED, "cell %llu says %s; %s",
            (unsigned long long)cell->cell, cell_verdict_name(cell->verdict), again);
}

static void judge_measuring(
    const struct rule *rule, const struct request *request, struct refusals *refusals)
{
    if (request->measure && !rule->may_measure)
        refuse(refusals, REASON_MEASURE_NOT_ALLOWED,
            "the rule `%s` of %.80s lets no cell be measured", rule->name, rule->file);
}

static void judge_steering(
    const struct rule *rule, const struct request *request, struct refusals *refusals)
{
    if (request->steered && rule->steering_refused)
        refuse(refusals, REASON_WORKSPACE_STEERS_VENDOR, "%s", request->steered);
}

/* A rule that demands a rung which does not hold refuses; the search does not go on to a rule that
 * demands less, for that would be stepping down. */
static void judge_demands(
    const struct rule *rule, const struct machine_row *machine, struct refusals *refusals)
{
    for (unsigned int i = 0; i < RUNG_COUNT; i++) {
        char found[FOUND_MAX];

        if (!(rule->demanded_rungs & UINT64_C(1) << i) || machine->rungs[i].state == RUNG_HOLDS)
            continue;
        format_found(&machine->rungs[i], found);
        refuse(refusals, REASON_RUNG_DEMANDED,
            "the rule `%s` of %.60s wants `%s` to hold; found: %s", rule->name, rule->file,
            rung_slug((enum rung_id)i), found);
    }
}

/* -- all of it -- */

static struct asked asked_of(const struct request *request)
{
    return (struct asked){
        .request = request,
        .boundary = request->boundary ? request->boundary : BOUNDARY_DOMAIN,
        .view = request->view ? request->view : VIEW_MINIMAL,
        .net = request->net ? request->net : NET_NONE,
        .vendor = request->vendor && request->vendor[0] ? request->vendor : "proc",
    };
}

static void decide(const struct asked *asked, const struct peer *peer, const struct policy *policy,
    const struct machine_row *machine, const struct usage *usage, struct decision *decision,
    struct refusals *refusals)
{
    const struct rule *rule;

    judge_counts(asked->request, refusals);
    judge_form(asked, refusals);
    judge_unavailable(asked, refusals);
    judge_container(asked, refusals);
    if (refusals->count > 0)
        return;
    judge_identity(peer, refusals);
    rule = rule_choose(policy, asked, peer, refusals);
    if (!rule)
        return;
    decision->rule = rule;
    decision->boundary = asked->boundary;
    decision->view = asked->view;
    decision->net = asked->net;
    decision->nested_allowed =
        asked->boundary == BOUNDARY_CONTAINER && rule->nested == NESTED_ALLOW;
    decision->capabilities = asked->request->capabilities;
    settle_limits(asked->request, rule, &decision->limits);
    judge_least(asked->request, &decision->limits, refusals);
    judge_grants(asked->request, refusals);
    place_paths(asked, rule, decision, refusals);
    judge_custody(asked, decision, refusals);
    judge_nesting(rule, asked->request, decision->nested_allowed, refusals);
    judge_steering(rule, asked->request, refusals);
    judge_cell(rule, asked, refusals);
    judge_measuring(rule, asked->request, refusals);
    judge_usage(rule, usage, refusals);
    judge_demands(rule, machine, refusals);
    back_claims(machine, decision, refusals);
    back_limits(asked, machine, decision, refusals);
}

void admit(const struct request *request, const struct peer *peer, const struct policy *policy,
    const struct machine_row *machine, const struct usage *usage, struct decision *ret)
{
    struct asked asked = asked_of(request);
    struct refusals refusals = {.count = 0};

    *ret = (struct decision){0};
    decide(&asked, peer, policy, machine, usage, ret, &refusals);
    if (refusals.count > 0) {
        decision_done(ret);
        memcpy(ret->refusals, refusals.list, sizeof(ret->refusals));
        ret->n_refusals = refusals.count;
    }
}

void decision_done(struct decision *decision)
{
    for (uint32_t i = 0; i < decision->n_texts; i++)
        free(decision->texts[i]);
    *decision = (struct decision){0};
}

bool may_see(const struct peer *peer, uint32_t owner, const struct policy *policy)
{
    if (peer->uid == owner || peer->uid == 0)
        return true;
    for (size_t i = 0; i < policy->n_rules; i++) {
        if (policy->rules[i].see_all && rule_names(&policy->rules[i], peer))
            return true;
    }
    return false;
}

bool may_connect(const struct peer *peer, const struct policy *policy)
{
    for (size_t i = 0; i < policy->n_rules; i++) {
        if (rule_names(&policy->rules[i], peer))
            return true;
    }
    return false;
}

bool may_measure(const struct peer *peer, const struct policy *policy)
{
    for (size_t i = 0; i < policy->n_rules; i++) {
        if (policy->rules[i].may_measure && rule_names(&policy->rules[i], peer))
            return true;
    }
    return false;
}
