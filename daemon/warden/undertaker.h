/* undertaker.h - reaping children of ours without waiting for them. */
#pragma once

#include "warden.h"

#define NOBODY UINT32_MAX

/* Kills the child that PIDFD (consumed) holds and reaps it, now or when it is dead.  UID: the user
 * whom it looked for, or NOBODY. */
void undertaker_bury(struct warden *warden, int pidfd, uint32_t uid);

/* How many that looked for UID were killed more than a moment ago and still live: a file system
 * holds them. */
uint32_t undertaker_waits_for(const struct warden *warden, uint32_t uid);

void undertaker_close(struct warden *warden);
