#include "refill.h"

#include "doors.h"
#include "fronts.h"
#include "slots.h"
#include <errno.h>

#define LOWEST_PRIORITY 2 /* of three; every other event has the middle one */

/* Making one takes the loop for milliseconds.  While a leg is being built, or runs for only as
 * long, nobody should wait for that: so it is done when a leg has just ended, and else after a
 * while. */
static const struct timeval at_once = {.tv_usec = 0};
static const struct timeval idle = {.tv_usec = 1000};
static const struct timeval busy = {.tv_usec = 20000};
/* After a failure (no process, no memory): not in a busy loop. */
static const struct timeval later = {.tv_sec = 1};

/* One of each at a time: a request that comes meanwhile waits for one of them, not for all. */
static void refill(evutil_socket_t fd, short what, void *context)
{
    struct warden *warden = context;
    int doors, fronts, slots;

    if (warden->stopping)
        return;
    if (warden->refill_pause) { /* what was made last died at once: no busy loop of deaths */
        warden->refill_pause = false;
        (void)event_add(warden->refill, &later);
        return;
    }
    slots = slots_refill(warden);
    fronts = fronts_refill(warden);
    doors = doors_refill(warden);
    if (slots < 0 || fronts < 0 || doors < 0)
        (void)event_add(warden->refill, &later);
    else if (slots == REFILL_E_MORE || fronts == REFILL_E_MORE || doors == REFILL_E_MORE)
        (void)event_add(warden->refill, warden->n_legs ? &busy : &idle);
}

int refill_open(struct warden *warden)
{
    warden->refill = evtimer_new(warden->loop, refill, warden);
    if (!warden->refill || event_priority_set(warden->refill, LOWEST_PRIORITY) < 0 ||
        event_add(warden->refill, &idle) < 0)
        return -ENOMEM;
    return 0;
}

void refill_soon(struct warden *warden)
{
    if (warden->refill && !event_pending(warden->refill, EV_TIMEOUT, NULL))
        (void)event_add(warden->refill, &busy);
}

void refill_now(struct warden *warden)
{
    if (warden->refill && !warden->refill_pause)
        (void)event_add(warden->refill, &at_once);
}

void refill_later(struct warden *warden)
{
    warden->refill_pause = true;
    if (warden->refill && !event_pending(warden->refill, EV_TIMEOUT, NULL))
        (void)event_add(warden->refill, &later);
}
