/* admit_fixture.h - a requester, a machine where all holds and a policy, for the tests of admit().
 */
#pragma once

#include "admit.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct policy policy;
    struct peer peer;
    struct machine_row machine;
    struct usage usage;
    struct request request;
    struct decision decision;
};

static inline int fixture_group(void *context, const char *name, uint32_t *ret_gid)
{
    *ret_gid = 990;
    return strcmp(name, "saphan") == 0 ? 0 : -ENOENT;
}

/* uid 1000, home /home/ann, under the POLICY text. */
static inline void fixture_start(struct fixture *fixture, const char *policy)
{
    static const struct name_resolver resolver = {NULL, fixture_group, NULL};
    struct strict_ini_error error = {0};

    *fixture = (struct fixture){
        .peer =
            {.uid = 1000, .gid = 1000, .groups = {1000, 27}, .n_groups = 2, .home = "/home/ann"},
    };
    for (size_t i = 0; i < RUNG_COUNT; i++)
        fixture->machine.rungs[i].state = RUNG_HOLDS;
    if (policy_parse(&fixture->policy, "p.policy", policy, &resolver, &error) != 0)
        fail_msg("line %u: %s", error.line, error.message);
}

static inline void fixture_end(struct fixture *fixture)
{
    decision_done(&fixture->decision);
    policy_done(&fixture->policy);
}

static inline void fixture_grant(struct fixture *fixture, enum grant_kind kind, const char *path)
{
    fixture->request.grants[fixture->request.n_grants++] =
        (struct grant){.kind = kind, .path = path, .directory = true};
}

static inline struct decision *fixture_decide(struct fixture *fixture)
{
    decision_done(&fixture->decision);
    admit(&fixture->request, &fixture->peer, &fixture->policy, &fixture->machine, &fixture->usage,
        &fixture->decision);
    return &fixture->decision;
}

static inline void fixture_admitted(struct fixture *fixture)
{
    const struct decision *decision = fixture_decide(fixture);

    if (decision->n_refusals > 0)
        fail_msg("refused: %s: %s", reason_entry(decision->refusals[0].reason)->slug,
            decision->refusals[0].detail);
}

/* Refused for REASON among others, with FOUND in its detail. */
static inline void fixture_refused(struct fixture *fixture, enum reason reason, const char *found)
{
    const struct decision *decision = fixture_decide(fixture);

    if (decision->n_refusals == 0)
        fail_msg("admitted, not %s", reason_entry(reason)->slug);
    for (uint32_t i = 0; i < decision->n_refusals; i++) {
        if (decision->refusals[i].reason == reason && strstr(decision->refusals[i].detail, found))
            return;
    }
    fail_msg("refused: %s: %s; not %s: %s", reason_entry(decision->refusals[0].reason)->slug,
        decision->refusals[0].detail, reason_entry(reason)->slug, found);
}

/* The kind of the carve-out at PATH of GRANT; 0 when there is none. */
static inline int fixture_carve_out(const struct fixture *fixture, uint32_t grant, const char *path)
{
    for (uint32_t i = 0; i < fixture->decision.n_carve_outs; i++) {
        const struct carve_out *carve_out = &fixture->decision.carve_outs[i];

        if (carve_out->grant == grant && strcmp(carve_out->path, path) == 0)
            return (int)carve_out->kind;
    }
    return 0;
}
