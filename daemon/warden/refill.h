/* refill.h - making fronts and slots ahead of need, when nobody waits for anything else. */
#pragma once

#include "warden.h"

/* One more was made, and there may be room for another. */
enum { REFILL_E_MORE = 1 };

int refill_open(struct warden *warden);

/* Something that stood ready was used up: make another, when nobody waits for the loop. */
void refill_soon(struct warden *warden);

/* A leg has just ended: the best moment. */
void refill_now(struct warden *warden);

/* Something that stood ready died of itself: make another, but not in a busy loop. */
void refill_later(struct warden *warden);
