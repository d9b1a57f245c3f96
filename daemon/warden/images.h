/* images.h - image add, list, show, rm and gc, as the monitor hands them over. */
#pragma once

#include "warden.h"

/* Each consumes MESSAGE and answers FRONT, at once or from the loop. */
void images_ask_add(struct front *front, struct seam_message *message);
void images_ask_list(struct front *front, struct seam_message *message);
void images_ask_remove(struct front *front, struct seam_message *message);
void images_ask_gc(struct front *front, struct seam_message *message);

/* The next image behind AFTER, in the order of the names, if FRONT's user may see it; its name
 * takes AFTER's place.  -ENOENT: there is none; -EPIPE: the front is gone. */
int images_tell_next(struct front *front, uint64_t request, char after[IMAGE_NAME_MAX + 1]);

/* The client went away: what it was adding is not added. */
void images_front_gone(struct warden *warden, struct front *front);

/* Layers that no image and no leg has begin to go.  How many, or -errno. */
int images_gc(struct warden *warden);

/* At the very end: what is being added is swept at the next start. */
void images_close(struct warden *warden);
