/* admit_rule.c - which rule admits a request, or why none does. */
#include "admit_parts.h"

#include "text.h"
#include <stdio.h>
#include <string.h>

#define LIST_TEXT_MAX 120

struct list_text {
    char text[LIST_TEXT_MAX];
};

static void list_add(struct list_text *list, const char *word)
{
    size_t at = strlen(list->text);

    (void)snprintf(list->text + at, sizeof(list->text) - at, "%s%s", at ? ", " : "", word);
}

static const char *list_show(const struct list_text *list)
{
    return list->text[0] ? list->text : "nothing";
}

static struct list_text list_of(char *const *words, size_t count)
{
    struct list_text list = {""};

    for (size_t i = 0; i < count; i++)
        list_add(&list, words[i]);
    return list;
}

bool rule_names(const struct rule *rule, const struct peer *peer)
{
    /* Root is never meant by accident: `*` is every user but root. */
    if (rule->any_user && peer->uid != 0)
        return true;
    for (size_t i = 0; i < rule->n_users; i++) {
        if (rule->users[i] == peer->uid)
            return true;
    }
    for (size_t i = 0; i < rule->n_groups; i++) {
        if (rule->groups[i] == peer->gid)
            return true;
        for (uint32_t j = 0; j < peer->n_groups; j++) {
            if (rule->groups[i] == peer->groups[j])
                return true;
        }
    }
    return false;
}

/* -- ceilings -- */

static bool covers(const char *ceiling, const char *home, const char *path)
{
    if (ceiling[0] != '~')
        return text_path_beneath(path, ceiling);
    /* A home of "/" would make `~` mean everything: it counts as none. */
    if (!home || !text_path_is_normal(home) || home[1] == '\0' || !text_path_beneath(path, home))
        return false;
    return ceiling[1] == '\0' || text_path_beneath(path + strlen(home), ceiling + 1);
}

static bool any_covers(char *const *ceilings, size_t count, const char *home, const char *path)
{
    for (size_t i = 0; i < count; i++) {
        if (covers(ceilings[i], home, path))
            return true;
    }
    return false;
}

bool rule_reads(const struct rule *rule, const struct peer *peer, const char *path)
{
    return any_covers(rule->read_ceilings, rule->n_read_ceilings, peer->home, path);
}

static void judge_grants(const struct rule *rule, const struct request *request,
    const struct peer *peer, struct refusals *refusals)
{
    for (uint32_t i = 0; i < request->n_grants; i++) {
        const struct grant *grant = &request->grants[i];
        bool writes = grant_writes(grant->kind);
        char *const *ceilings = writes ? rule->write_ceilings : rule->read_ceilings;
        size_t count = writes ? rule->n_write_ceilings : rule->n_read_ceilings;
        struct list_text list = list_of(ceilings, count);

        /* What was asked for as a seat and is shown read-only: who may write it may read it. */
        if (grant->kind == GRANT_SEAT_READ &&
            any_covers(rule->write_ceilings, rule->n_write_ceilings, peer->home, grant->path))
            continue;
        if (!any_covers(ceilings, count, peer->home, grant->path))
            refuse(refusals, REASON_GRANT_OUTSIDE_CEILING,
                "%s: %s %.100s%s%.60s; the rule `%s` of %.48s lets %s: %.80s",
                grant->added ? "needed" : "asked", grant_kind_name(grant->kind), grant->path,
                grant->added ? ", " : "", grant->added ? grant->added : "", rule->name, rule->file,
                writes ? "write" : "read", list_show(&list));
    }
}

/* -- the rest of a rule -- */

static void judge_boundary(
    const struct rule *rule, const struct asked *asked, struct refusals *refusals)
{
    struct list_text list = {""};

    if (rule->boundaries & 1U << asked->boundary)
        return;
    for (unsigned int i = BOUNDARY_DOMAIN; i < BOUNDARY_NONE; i++) {
        if (rule->boundaries & 1U << i)
            list_add(&list, boundary_name((enum boundary)i));
    }
    refuse(refusals, REASON_BOUNDARY_NOT_ALLOWED,
        "asked: boundary %s; the rule `%s` of %.80s lets: %s", boundary_name(asked->boundary),
        rule->name, rule->file, list_show(&list));
}

static void judge_view(
    const struct rule *rule, const struct asked *asked, struct refusals *refusals)
{
    struct list_text list = {""};

    if (rule->views & 1U << asked->view)
        return;
    for (unsigned int i = VIEW_MINIMAL; i <= VIEW_HOST; i++) {
        if (rule->views & 1U << i)
            list_add(&list, view_name((enum view)i));
    }
    refuse(refusals, REASON_VIEW_NOT_ALLOWED, "asked: view %s; the rule `%s` of %.80s lets: %s",
        view_name(asked->view), rule->name, rule->file, list_show(&list));
}

static void judge_net(const struct rule *rule, const struct asked *asked, struct refusals *refusals)
{
    struct list_text list = {""};

    if (rule->nets & 1U << asked->net)
        return;
    for (unsigned int i = NET_NONE; i <= NET_LAST; i++) {
        if (rule->nets & 1U << i)
            list_add(&list, net_name((enum net)i));
    }
    refuse(refusals, REASON_NET_NOT_ALLOWED, "asked: net %s; the rule `%s` of %.80s lets: %s",
        net_name(asked->net), rule->name, rule->file, list_show(&list));
}

static void judge_vendor(
    const struct rule *rule, const struct asked *asked, struct refusals *refusals)
{
    struct list_text list = list_of(rule->vendors, rule->n_vendors);

    for (size_t i = 0; i < rule->n_vendors; i++) {
        if (text_equal(rule->vendors[i], "*") || text_equal(rule->vendors[i], asked->vendor))
            return;
    }
    refuse(refusals, REASON_VENDOR_NOT_ALLOWED,
        "asked: vendor %.32s; the rule `%s` of %.80s lets: %.80s", asked->vendor, rule->name,
        rule->file, list_show(&list));
}

static void judge_limits(
    const struct rule *rule, const struct request *request, struct refusals *refusals)
{
    for (unsigned int i = 0; i < LIMIT_COUNT; i++) {
        uint64_t wanted = limits_get(&request->limits, (enum limit_id)i);
        uint64_t ceiling = limits_get(&rule->ceiling, (enum limit_id)i);
        char wanted_text[LIMIT_TEXT_MAX], ceiling_text[LIMIT_TEXT_MAX];

        if (!ceiling || wanted <= ceiling)
            continue;
        limit_format((enum limit_id)i, wanted, wanted_text);
        limit_format((enum limit_id)i, ceiling, ceiling_text);
        refuse(refusals, REASON_LIMIT_OUTSIDE_CEILING,
            "asked: limit %s=%s; the rule `%s` of %.80s lets at most %s",
            limit_name((enum limit_id)i), wanted_text, rule->name, rule->file, ceiling_text);
    }
}

/* An empty list covers nothing. */
static bool host_covered(const struct rule *rule, const struct host_pattern *pattern)
{
    for (size_t i = 0; i < rule->n_hosts; i++) {
        struct host_pattern ceiling;

        if (host_pattern_parse(rule->hosts[i], true, &ceiling) == 0 &&
            host_pattern_covers(&ceiling, pattern))
            return true;
    }
    return false;
}

static void judge_hosts(
    const struct rule *rule, const struct request *request, struct refusals *refusals)
{
    struct list_text list = list_of(rule->hosts, rule->n_hosts);

    for (uint32_t i = 0; i < request->n_hosts; i++) {
        char text[HOST_TEXT_MAX];

        if (host_covered(rule, &request->hosts[i]))
            continue;
        host_pattern_format(&request->hosts[i], text);
        refuse(refusals, REASON_HOST_OUTSIDE_CEILING,
            "asked: %.120s; the rule `%s` of %.48s lets: %.80s", text, rule->name, rule->file,
            list_show(&list));
    }
}

static void judge_forwards(
    const struct rule *rule, const struct request *request, struct refusals *refusals)
{
    for (uint32_t i = 0; i < request->n_forwards; i++) {
        const struct forward *forward = &request->forwards[i];
        bool by_path = forward->kind == FORWARD_UNIX;
        struct list_text list = by_path ? list_of(rule->unix_ceilings, rule->n_unix_ceilings)
                                        : list_of(rule->hosts, rule->n_hosts);
        char text[FORWARD_TEXT_MAX];

        if (by_path ? any_covers(rule->unix_ceilings, rule->n_unix_ceilings, NULL, forward->path)
                    : host_covered(rule, &forward->host))
            continue;
        forward_format(forward, text);
        refuse(refusals, REASON_FORWARD_OUTSIDE_CEILING,
            "asked: %.150s; the rule `%s` of %.48s lets: %.80s", text, rule->name, rule->file,
            list_show(&list));
    }
}

bool may_allow(
    const struct peer *peer, const struct host_pattern *pattern, const struct policy *policy)
{
    for (size_t i = 0; i < policy->n_rules; i++) {
        const struct rule *rule = &policy->rules[i];

        if (rule_names(rule, peer) && rule->nets & 1U << NET_DOOR && host_covered(rule, pattern))
            return true;
    }
    return false;
}

static void judge(const struct rule *rule, const struct asked *asked, const struct peer *peer,
    struct refusals *refusals)
{
    judge_boundary(rule, asked, refusals);
    judge_view(rule, asked, refusals);
    judge_net(rule, asked, refusals);
    judge_vendor(rule, asked, refusals);
    judge_grants(rule, asked->request, peer, refusals);
    judge_hosts(rule, asked->request, refusals);
    judge_forwards(rule, asked->request, refusals);
    judge_limits(rule, asked->request, refusals);
    judge_image(rule, asked, peer, refusals);
    judge_capabilities(rule, asked->request, refusals);
}

const struct rule *rule_choose(const struct policy *policy, const struct asked *asked,
    const struct peer *peer, struct refusals *refusals)
{
    struct refusals nearest = {.count = UINT32_MAX};

    for (size_t i = 0; i < policy->n_rules; i++) {
        struct refusals found = {.count = 0};

        if (!rule_names(&policy->rules[i], peer))
            continue;
        judge(&policy->rules[i], asked, peer, &found);
        if (found.count == 0)
            return &policy->rules[i];
        if (found.count < nearest.count)
            nearest = found;
    }
    if (nearest.count == UINT32_MAX) {
        refuse(refusals, REASON_NOT_ALLOWED,
            "asked by uid %u, gid %u and %u further groups; none of the policy's %zu rules names "
            "it%s",
            peer->uid, peer->gid, peer->n_groups, policy->n_rules,
            peer->uid == 0 ? " (User=* does not mean root)" : "");
        return NULL;
    }
    for (uint32_t i = 0; i < nearest.count && refusals->count < REFUSALS_MAX; i++)
        refusals->list[refusals->count++] = nearest.list[i];
    return NULL;
}
