/* leg_door.c - what a leg does when its door stands, fails, or is lost. */
#include "doors.h"
#include "legs.h"
#include "steps.h"
#include <errno.h>

void leg_door_ready(struct leg *leg)
{
    leg->door_ready = true;
    leg_go_ahead(leg);
}

/* Before GO a door that fails is a step that failed; after it, the leg's only way out and the one
 * who watched it are gone: the leg ends. */
void leg_door_failed(struct leg *leg, int error, const char *subject)
{
    if (leg->gone_ahead) {
        leg_kill(leg, REASON_DOOR_LOST);
        return;
    }
    if (leg->build_fault.step == 0)
        (void)fault_set(&leg->build_fault, STEP_DOOR, error, "%s", subject);
    if (leg->slot)
        leg_fail_when_dead(leg);
    /* else the slot is still being made: what waits for it fails when the sockets come */
}

void leg_doorway_opened(struct leg *leg, struct seam_message *message)
{
    int r;

    if (leg->doorway || leg->decision.net != NET_DOOR)
        return;
    leg->doorway = true;
    r = leg->door ? door_serve(leg, message) : -EPIPE;
    if (r < 0)
        leg_door_failed(leg, -r, "its list");
}
