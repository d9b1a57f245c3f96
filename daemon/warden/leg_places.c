/* leg_places.c - the directories where a vendor looks for a workspace's files: the one it begins
 * in, each above that a grant shows, and the workspace's own. */
#include "leg.h"

#include "text.h"
#include <errno.h>
#include <string.h>

static bool covers(const struct leg *leg, uint32_t grant, const char *path)
{
    return leg->request.grants[grant].directory &&
           text_path_beneath(path, grant_place(&leg->request.grants[grant]));
}

/* The grant that shows most of what lies above PATH; -1: none shows it. */
static int shallowest(const struct leg *leg, const char *path)
{
    int best = -1;

    for (uint32_t i = 0; i < leg->request.n_grants; i++) {
        if (covers(leg, i, path) &&
            (best < 0 || strlen(grant_place(&leg->request.grants[i])) <
                             strlen(grant_place(&leg->request.grants[best]))))
            best = (int)i;
    }
    return best;
}

static int add(struct leg *leg, uint32_t grant, const char *path)
{
    struct leg_vendor *vendor = &leg->vendor;

    for (uint32_t i = 0; i < vendor->n_places; i++) {
        if (text_equal(vendor->places[i].path, path))
            return 0;
    }
    if (vendor->n_places == LEG_PLACES_MAX)
        return -E2BIG;
    vendor->places[vendor->n_places].path = strdup(path);
    if (!vendor->places[vendor->n_places].path)
        return -ENOMEM;
    vendor->places[vendor->n_places++].grant = grant;
    return 0;
}

int leg_find_places(struct leg *leg)
{
    auto_free char *at = strdup(leg->vendor.directory);
    const char *workspace = leg->vendor.command.workspace;
    int grant = shallowest(leg, leg->vendor.directory), r = 0;

    if (!at)
        return -ENOMEM;
    while (r == 0 && grant >= 0 && covers(leg, (uint32_t)grant, at)) {
        char *slash = strrchr(at, '/');

        r = add(leg, (uint32_t)grant, at);
        if (at[1] == '\0')
            break;
        slash[slash == at ? 1 : 0] = '\0';
    }
    grant = workspace ? shallowest(leg, workspace) : -1;
    return r == 0 && grant >= 0 ? add(leg, (uint32_t)grant, workspace) : r;
}

const char *leg_place_in_grant(const struct leg *leg, uint32_t place)
{
    const char *path = leg->vendor.places[place].path;
    const char *grant = grant_place(&leg->request.grants[leg->vendor.places[place].grant]);
    size_t length = strlen(grant);

    if (text_equal(path, grant))
        return "";
    return length == 1 ? path + 1 : path + length + 1;
}

void leg_places_done(struct leg *leg)
{
    for (uint32_t i = 0; i < leg->vendor.n_places; i++)
        free(leg->vendor.places[i].path);
    leg->vendor.n_places = 0;
}
