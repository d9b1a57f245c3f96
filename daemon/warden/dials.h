/* dials.h - sockets for the forwards of doors that lead to a path, connected as the requester. */
#pragma once

#include "doors.h"

#define DIALS_AT_ONCE 16 /* of one door */

struct dial;
TAILQ_HEAD(dial_list, dial);

/* Connects as LEG's requester to PATH; the door gets the socket, or the errno, from the loop. */
void dial(struct door *door, struct leg *leg, const char *path, uint32_t serial);

/* DOOR is going: nobody waits for its dials any more. */
void dials_cancel(struct dial_list *dials);
