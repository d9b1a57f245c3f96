/* resolve.h - the resolvers that the door asks. */
#pragma once

#include "door.h"

/* RESOLV_CONF is the system's configuration, or -EBADF; RESOLVERS are texts in MESSAGE.  No name is
 * looked up here.  -errno. */
int resolve_open(struct door *door, int resolv_conf, const struct seam_message *message,
    struct seam_list resolvers);
