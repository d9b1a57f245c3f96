/* waiting.c - the door's loop: it sleeps until something comes, and stays awake for a moment first
 * where that pays.
 *
 * To be woken takes longer than all that the door does for a request.  So as long as what it waits
 * for comes within POLL_US it waits awake.  Each time that this was in vain it sleeps twice as many
 * times before it tries again: a server that is far away costs one moment in PAUSE_MAX waits, and a
 * door where nothing happens costs nothing.  While much goes through it sleeps at once: the
 * processor belongs to those who read and write.
 *
 * While it waits awake it lets whoever wants this processor have it.  The kernel takes the door for
 * one that sleeps as soon as it has woken somebody, and where no other processor is free it lines
 * him up behind it: the program that has its answer now, the server that is to give one.
 */
#include "waiting.h"

#include "clock.h"
#include "door.h"
#include <sched.h>

#define POLL_US 150
#define PAUSE_MAX 64
#define BULK_BYTES 16384

void waiting_arrived(struct door *door, size_t size)
{
    door->waiting.arrivals++;
    if (size > BULK_BYTES)
        door->waiting.bulk = true;
}

/* True: something came, or the loop is over. */
static bool wait_awake(struct door *door)
{
    uint64_t until = clock_monotonic_us() + POLL_US, seen = door->waiting.arrivals;

    do {
        (void)sched_yield();
        (void)event_base_loop(door->loop, EVLOOP_NONBLOCK);
        if (door->waiting.arrivals != seen || event_base_got_break(door->loop))
            return true;
    } while (clock_monotonic_us() < until);
    return false;
}

/* True: it is to sleep now. */
static bool had_enough(struct door *door)
{
    struct waiting *waiting = &door->waiting;

    if (waiting->left > 0) {
        waiting->left--;
        return true;
    }
    if (waiting->bulk)
        return true;
    if (wait_awake(door)) {
        waiting->pause = 0;
        return false;
    }
    waiting->pause = waiting->pause < PAUSE_MAX / 2 ? waiting->pause * 2 + 1 : PAUSE_MAX;
    waiting->left = waiting->pause;
    return true;
}

void waiting_serve(struct door *door)
{
    do {
        if (!had_enough(door))
            continue;
        door->waiting.bulk = false;
        (void)event_base_loop(door->loop, EVLOOP_ONCE);
    } while (!event_base_got_break(door->loop));
}
