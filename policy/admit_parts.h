/* admit_parts.h - the parts of the decision.  Used by admit*.c alone. */
#pragma once

#include "admit.h"

/* Reasons as they are found; more than REFUSALS_MAX are dropped: the first few say enough. */
struct refusals {
    struct refusal list[REFUSALS_MAX];
    uint32_t count;
};

/* FORMAT makes the detail; bytes that could steer a terminal are escaped. */
void refuse(struct refusals *refusals, enum reason reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What was asked, with the defaults filled in. */
struct asked {
    const struct request *request;
    enum boundary boundary;
    enum view view;
    enum net net;
    const char *vendor;
};

/* "4G", "90s", "512": a limit's value as --limit would have it. */
#define LIMIT_TEXT_MAX 24
void limit_format(enum limit_id limit, uint64_t value, char out[LIMIT_TEXT_MAX]);

/* -- admit_rule.c -- */

/* The first rule that names PEER and allows all that is asked.  NULL with REFUSALS filled from the
 * rule that came nearest. */
const struct rule *rule_choose(const struct policy *policy, const struct asked *asked,
    const struct peer *peer, struct refusals *refusals);

/* -- admit_image.c -- */

/* What a container, and nothing else, can be asked for. */
void judge_container(const struct asked *asked, struct refusals *refusals);
void judge_capabilities(
    const struct rule *rule, const struct request *request, struct refusals *refusals);
void judge_image(const struct rule *rule, const struct asked *asked, const struct peer *peer,
    struct refusals *refusals);

/* -- admit_paths.c -- */

/* Refuses where the leg could write a name on the way to its vendor's program. */
void judge_custody(
    const struct asked *asked, const struct decision *decision, struct refusals *refusals);

/* Fill DECISION's directory, carve-outs and artefacts; what cannot be goes to REFUSALS. */
void place_paths(const struct asked *asked, const struct rule *rule, struct decision *decision,
    struct refusals *refusals);
