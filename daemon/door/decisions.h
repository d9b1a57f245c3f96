/* decisions.h - what the warden is told: each decision, and the end of each connection.
 *
 * Nothing is dropped and nothing waits for ever: a refusal of the same host for the same reason is
 * folded into the one that was told before, and told again with its count.  All is told within a
 * few milliseconds; while the warden takes no more, no further connection is accepted.
 */
#pragma once

#include "door.h"

int decisions_open(struct door *door);
/* The channel has room for more: new connections may be taken. */
bool decisions_ready(const struct door *door);

void decisions_refused(
    struct door *door, const char *subject, enum reason reason, const char *detail);
void decisions_connected(
    struct door *door, uint64_t number, const char *subject, const char *detail);
void decisions_disconnected(struct door *door, uint64_t number, const char *subject,
    enum reason reason, uint64_t up, uint64_t down);

/* Tells all that is folded, and waits for room where it must. */
void decisions_flush(struct door *door);

/* A dial of a forward's socket.  SEAM_E_CLOSED, -errno. */
int decisions_dial(struct door *door, uint32_t forward, uint32_t serial);
