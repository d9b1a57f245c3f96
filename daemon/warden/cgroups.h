/* cgroups.h - where the daemon's own cgroup stands, and one below it for each slot. */
#pragma once

#include "warden.h"

/* Under systemd (Delegate=yes) the unit's cgroup is the base and the daemon moves into a child of
 * it; otherwise a child "saphan-PID" of our own cgroup is made.  Controllers that are delegated to
 * us are switched on. */
int cgroups_open(struct warden *warden);

/* Ends what is left below the base and removes what we made. */
void cgroups_close(struct warden *warden);

/* Removes every empty or killable cgroup that a dead daemon left below the base: its legs. */
void cgroups_sweep(struct warden *warden);

/* Kills what is in BASE/NAME and removes it: for a cgroup that a dead daemon's ledger names. */
void cgroups_sweep_one(int parent, const char *name);
