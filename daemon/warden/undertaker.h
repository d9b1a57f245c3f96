/* undertaker.h - reaping children of ours without waiting for them. */
#pragma once

#include "warden.h"

/* Kills the child that PIDFD (consumed) holds and reaps it, now or when it is dead. */
void undertaker_bury(struct warden *warden, int pidfd);

void undertaker_close(struct warden *warden);
