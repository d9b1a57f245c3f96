/* way.h - a path inside a root that is walked as text, a component at a time, links and all: what
 * is opened on the way is always a path without a link and without "..", and so never leads out. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#define WAY_LINKS_MAX 40

struct way {
    char done[PATH_MAX]; /* where we are: "" is the root, else "/a/b" */
    char rest[PATH_MAX]; /* what is still to be walked */
    char name[NAME_MAX + 1];
    unsigned int links;
};

/* Takes the next component off the rest, into NAME.  False: there is none. */
bool way_next(struct way *way);

/* Goes to NAME; -ENAMETOOLONG. */
int way_push(struct way *way);
/* Goes up; at the root it stays there. */
void way_pop(struct way *way);

/* Goes up, and NAME is where we were.  False: at the root. */
bool way_back(struct way *way);

/* NAME is the link LINK (O_PATH | O_NOFOLLOW): the way goes on where it leads.  -ELOOP: too many.
 */
int way_follow(struct way *way, int link);

/* Where we are, or NAME in it, beneath ROOT; O_PATH, no link followed, NAME may be one.  A
 * descriptor or -errno. */
int way_open_here(const struct way *way, int root);
int way_open_name(const struct way *way, int root);
