/* doors.h - saphan-door as the warden has it: one for each leg whose network is `door`.
 *
 * One stands ready, so that no exec is in a leg's way.  A door speaks of its own leg alone, by the
 * channel it speaks on.  It ends with its leg; a leg whose door ends first is ended.
 */
#pragma once

#include "leg.h"

/* Makes one more when fewer than options.doors stand ready and some rule lets net door:
 * REFILL_E_MORE then, else 0, -errno. */
int doors_refill(struct warden *warden);
void doors_close(struct warden *warden);

/* Gives LEG a door: leg->door.  -errno. */
int door_take(struct leg *leg);

/* Tells LEG's door whom it serves.  The listening sockets are those of MESSAGE, from LEG's stub.
 * leg_door_ready() or leg_door_failed() follows from the loop.  -errno. */
int door_serve(struct leg *leg, struct seam_message *message);

/* The door's dials that are under way (dials.h). */
struct dial_list *door_dials(struct door *door);
/* One message to it.  0, SEAM_E_CLOSED, -errno. */
int door_send(struct door *door, uint16_t type, const void *fixed, const int *descriptors,
    size_t n_descriptors);

/* The list is changed while the leg runs.  False: the door takes no message. */
bool door_change(struct door *door, uint16_t type, const struct host_pattern *pattern);

/* The leg's last process is gone: leg_door_done() follows from the loop when all was told. */
void door_end(struct door *door);
/* Ends it at once; its leg has none any more. */
void door_drop(struct door *door);
