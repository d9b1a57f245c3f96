/* outlets.h - hosts and forwards of a leg's door, into messages and out of them. */
#pragma once

#include "messages.h"

struct seam_host seam_put_host(struct seam_writer *writer, const struct host_pattern *pattern);
/* False: it is not of the form that host_pattern_parse() leaves. */
bool seam_host(
    const struct seam_message *message, const struct seam_host *host, struct host_pattern *ret);

/* Without its key and authorities, which are descriptors: -1. */
struct seam_forward seam_put_forward(struct seam_writer *writer, const struct forward *forward);
/* PATH and HEADER of the result lie in the message. */
bool seam_forward(
    const struct seam_message *message, const struct seam_forward *forward, struct forward *ret);
