/* versions.h - which version a vendor's program is: said by itself, inside a leg of its own, once
 * for each binary and requester. */
#pragma once

#include "leg.h"

struct known_version;

/* Does LEG's profile say how its program tells its version, and is that program known? */
bool version_is_asked(const struct leg *leg);

/* Learns the version of LEG's program where its profile says how, then calls leg_vendor_known(), at
 * once or from the loop.  LEG may be gone after it. */
void version_know(struct leg *leg);

/* A leg that was started to say its version is over; VERDICT as it is.  Reads what it said. */
void version_said(struct leg *leg, const struct verdict *verdict);

void version_failed(struct known_version *version, const char *why);

/* It will say nothing any more: those that wait for it go on. */
void version_given_up(struct leg *leg, const char *why);

/* What is known of LEG's program, for its report; nothing where its profile does not ask. */
void version_tell(struct leg *leg);

void versions_done(struct warden *warden);
