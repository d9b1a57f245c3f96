/* sweep.h - what a dead daemon left: its legs' cgroups, their rows, their placeholders. */
#pragma once

#include "warden.h"

/* At start, before anyone is served.  Its processes died with it (their parent-death signal and
 * their channel saw to that); this makes sure, and says so in the ledger. */
int sweep(struct warden *warden);
