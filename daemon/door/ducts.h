/* ducts.h - pipes by which bytes go from socket to socket without being copied: splice(2), pipe(7).
 *
 * A few for the whole door, made before its filter stands: what a leg does can have no more of the
 * kernel's memory pinned in them than DUCTS_MAX pipes hold.  A duct belongs to one flow for the
 * length of one call, or for as long as the flow's sink takes nothing.
 */
#pragma once

#include <stddef.h>
#include <sys/queue.h>

#define DUCTS_MAX 32

struct door;

struct duct {
    SLIST_ENTRY(duct) entry;
    int in, out;
    size_t held; /* bytes that came from the source and did not go on yet */
};

SLIST_HEAD(duct_list, duct);

/* 0 or -errno: pipe2(2). */
int ducts_open(struct door *door);

/* An empty one.  NULL: each of them is full of what somebody does not read. */
struct duct *duct_take(struct door *door);
/* Takes *DUCT, which may be NULL, back; what it still holds is thrown away. */
void duct_give_back(struct door *door, struct duct **duct);
