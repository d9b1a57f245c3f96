/* admit_image.c - who may add, see, run and remove images; and what a container can be asked for.
 */
#include "admit_parts.h"

#include "capability.h"
#include "text.h"
#include <string.h>

/* `own` is what the requester or root added: whom it trusts already. */
static bool matches(const char *pattern, const struct peer *peer, const char *name, uint32_t owner)
{
    size_t length = strlen(pattern);

    if (text_equal(pattern, "own"))
        return owner == peer->uid || owner == 0;
    if (length > 0 && pattern[length - 1] == '*')
        return strncmp(pattern, name, length - 1) == 0;
    return text_equal(pattern, name);
}

bool rule_lets_image(
    const struct rule *rule, const struct peer *peer, const char *name, uint32_t owner)
{
    for (size_t i = 0; i < rule->n_images; i++) {
        if (matches(rule->images[i], peer, name, owner))
            return true;
    }
    return false;
}

const struct rule *may_add_images(const struct peer *peer, const struct policy *policy)
{
    for (size_t i = 0; i < policy->n_rules; i++) {
        if (policy->rules[i].image_add && rule_names(&policy->rules[i], peer))
            return &policy->rules[i];
    }
    return NULL;
}

bool may_change_image(const struct peer *peer, uint32_t owner, const struct policy *policy)
{
    return may_see(peer, owner, policy) && may_add_images(peer, policy);
}

bool may_see_image(
    const struct peer *peer, const char *name, uint32_t owner, const struct policy *policy)
{
    if (may_see(peer, owner, policy))
        return true;
    for (size_t i = 0; i < policy->n_rules; i++) {
        if (rule_names(&policy->rules[i], peer) &&
            rule_lets_image(&policy->rules[i], peer, name, owner))
            return true;
    }
    return false;
}

/* -- a leg's -- */

/* Places that are the container's own. */
static bool is_taken(const char *path)
{
    static const char *const ours[] = {"/proc", "/sys", "/dev"};

    for (size_t i = 0; i < array_size(ours); i++) {
        if (text_path_beneath(path, ours[i]))
            return true;
    }
    return text_equal(path, "/");
}

static void judge_targets(const struct asked *asked, struct refusals *refusals)
{
    const struct request *request = asked->request;

    for (uint32_t i = 0; i < request->n_grants && i < GRANTS_MAX; i++) {
        const struct grant *grant = &request->grants[i];
        const char *place = grant_place(grant);

        if (grant->target && asked->boundary != BOUNDARY_CONTAINER)
            refuse(refusals, REASON_GRANT_TARGET,
                "asked: %.150s at %.150s; in a domain a grant stands where it is", grant->path,
                grant->target);
        else if (asked->boundary == BOUNDARY_CONTAINER &&
                 (!text_path_is_normal(place) || is_taken(place)))
            refuse(refusals, REASON_GRANT_TARGET, "asked: %.150s at %.150s", grant->path, place);
    }
}

void judge_container(const struct asked *asked, struct refusals *refusals)
{
    const struct request *request = asked->request;
    bool container = asked->boundary == BOUNDARY_CONTAINER;

    judge_targets(asked, refusals);
    if (container && !request->image.name)
        refuse(refusals, REASON_IMAGE_NEEDED, "asked: boundary container, and no image");
    if (!container && (request->image.name || request->writable_root || request->wants_container))
        refuse(refusals, REASON_IMAGE_NEEDED, "asked: %s%.100s with boundary %s",
            request->image.name ? "image " : "a container's option",
            request->image.name ? request->image.name : "", boundary_name(asked->boundary));
    if (container && request->view == VIEW_HOST)
        refuse(refusals, REASON_VIEW_UNAVAILABLE,
            "asked: view host; a container has a root of its own");
}

void judge_capabilities(
    const struct rule *rule, const struct request *request, struct refusals *refusals)
{
    char asked[CAPABILITIES_TEXT_MAX], lets[CAPABILITIES_TEXT_MAX];

    if (!(request->capabilities & ~rule->capabilities))
        return;
    capabilities_format(request->capabilities, asked);
    capabilities_format(rule->capabilities, lets);
    refuse(refusals, REASON_CAPABILITY_NOT_ALLOWED, "asked: %s; the rule `%s` of %.80s lets: %s",
        asked, rule->name, rule->file, lets);
}

/* After a rule was found: whoever may not know of an image does not hear what it is like. */
void judge_image(const struct rule *rule, const struct asked *asked, const struct peer *peer,
    struct refusals *refusals)
{
    const struct asked_image *image = &asked->request->image;

    if (asked->boundary != BOUNDARY_CONTAINER || !image->name)
        return;
    if (!image->known)
        refuse(refusals, REASON_IMAGE_UNKNOWN, "asked: image %.150s", image->name);
    else if (!rule_lets_image(rule, peer, image->name, image->owner))
        refuse(refusals, REASON_IMAGE_NOT_ALLOWED,
            "asked: image %.100s, which uid %u added; the rule `%s` of %.80s does not let it",
            image->name, image->owner, rule->name, rule->file);
    else if (image->trouble != REASON_NONE)
        refuse(refusals, image->trouble, "%s", image->trouble_detail);
}
