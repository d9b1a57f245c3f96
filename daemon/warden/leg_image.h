/* leg_image.h - the image a leg runs in, and what of the request it decides: the command, the user,
 * the environment's beginning. */
#pragma once

#include "ledger_images.h"
#include "leg.h"

struct leg_image {
    struct image_record record;
    uint32_t uid, gid;        /* inside */
    char *user;               /* its name there; NULL: it has none */
    char *places[GRANTS_MAX]; /* of grants that were not asked for */
    uint32_t n_places;
};

/* Finds the image that was asked for and fills request.image; and leg->argv, of any leg.  On
 * failure the leg is refused and gone. */
int leg_find_image(struct leg *leg);
void leg_image_done(struct leg *leg);

/* PART beneath PLACE, a grant's target; lives as long as the leg.  NULL where PLACE is, and then
 * the part is where it is on the host. */
const char *leg_image_place(struct leg *leg, const char *place, const char *part);

/* The user namespace for the grants of a container: the requester's uid and gid are, inside, the
 * leg's own, and the other way round, so that a file is the leg's exactly where it is the
 * requester's.  For a leg that holds capabilities it is the requester's ids alone: what is
 * another's is no one's in it, and a capability counts for no such file.  -errno. */
int leg_grant_map(const struct leg *leg);
/* What the requester's group GROUP is inside. */
uint32_t leg_group_inside(const struct leg *leg, uint32_t group);
