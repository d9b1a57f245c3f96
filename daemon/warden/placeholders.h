/* placeholders.h - what a leg's stub may have put into a user's tree to keep a name from coming
 * into being, and how it goes again.
 *
 * The stub makes them (through the leg's own id-mapped grant, with the requester's rights) and
 * marks them; the warden wrote the intent to the ledger before the plan was sent, and removes what
 * bears the mark when the last leg with an intent on that directory ends, or at the sweep after a
 * crash.
 */
#pragma once

#include "leg.h"

/* Does the decision hold a carve-out that must not come to exist? */
bool placeholders_may_be_made(const struct leg *leg);

/* Remembers the intents of LEG, in memory; ledger_begin() writes them with the row. */
void placeholders_intend(struct leg *leg);

/* The leg ended: removes what no other leg intends. */
void placeholders_release(struct leg *leg);

/* Removes the marked placeholder at DIRECTORY/PATH (relative, no symlink is followed), or the one
 * that stands on the way there for all that would be in it, if it is still what was put there.
 * 0, -ENOENT, -ENOTEMPTY: somebody uses it now, so it is theirs. */
int placeholder_remove(int directory, const char *path);
