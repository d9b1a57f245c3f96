/* legs.h - all legs: what the rest of the warden may ask of them. */
#pragma once

#include "warden.h"

struct peer;

/* FRONT asks for a leg; MESSAGE (SEAM_ASK_RUN) is consumed. */
/* A request of our own, in the name of the one who asked for LIKE: see versions.c.  It is a leg
 * like any other, detached. */
struct known_version;
void legs_ask_own(const struct leg *like, struct seam_message *message, struct known_version *says);

void legs_ask(struct front *front, struct seam_message *message);

/* The connection is gone: its legs are killed unless they are detached. */
void legs_front_gone(struct warden *warden, struct front *front);

/* Kills a running leg for REASON; the verdict follows when its last process is gone. */
void leg_kill(struct leg *leg, enum reason reason);

struct leg *legs_find(struct warden *warden, uint64_t id);

/* From slots.c. */
void legs_slot_given(struct leg *leg, struct slot *slot);
void legs_slot_failed(struct leg *leg, const char *what);
void legs_stub_says(struct leg *leg, struct seam_message *message); /* consumed */
void legs_stub_ended(struct leg *leg);

/* Kills all, for an orderly stop. */
void legs_stop(struct warden *warden);

/* Takes down what legs_stop() could not wait for: at the very end. */
void legs_abandon(struct warden *warden);
