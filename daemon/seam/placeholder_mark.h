/* placeholder_mark.h - what the stub puts on a placeholder and the warden looks for. */
#pragma once

/* An extended attribute whose value is the leg's number, in decimal: xattr(7). */
#define PLACEHOLDER_MARK "user.saphan.placeholder"

/* The content of a placeholder of kind CARVE_OUT_ALWAYS_HERE. */
#define PLACEHOLDER_HERE ".\n"

/* The mode a placeholder is born with, in the same call: sticky, and nobody may do anything.  The
 * attribute follows in a call of its own, and a kill may come between: what is empty, has just
 * this mode and is still root's (it is given to the directory's owner last) is ours too.  A leg
 * that holds capabilities makes it as the directory's owner, who could have made the like: an empty
 * one of that mode, at a name that the journal says is ours, is no loss to anybody. */
#define PLACEHOLDER_UNFINISHED 01000
