/* slots.h - a slot is a stub waiting in fresh namespaces, its own cgroup and its id range, with
 * nothing granted.  A leg is always a slot plus a plan; whether the slot stood ready or was made
 * just now is this file's business alone.
 */
#pragma once

#include "warden.h"

enum slot_state {
    SLOT_STARTING = 1, /* not born, or the stub has not said WAITING yet */
    SLOT_WAITING = 2,
    SLOT_TAKEN = 3,   /* a leg has it */
    SLOT_LEAVING = 4, /* its processes are gone or going; the cgroup goes next */
};

struct slot {
    TAILQ_ENTRY(slot) entry;
    struct warden *warden;
    enum slot_state state;
    bool host_network;
    char cgroup_name[32];
    int cgroup;
    bool has_ids;
    uint32_t id_base;
    pid_t pid;
    int pidfd;
    int user_namespace;
    int channel; /* ours, non-blocking */
    int devices; /* detached /dev for the leg */
    struct event *readable, *ended, *leaving;
    struct leg *leg;
};

/* Makes one more slot when fewer than options.slots wait: REFILL_E_MORE then, else 0, -errno. */
int slots_refill(struct warden *warden);

/* A slot for LEG: a waiting one, or one that is made now and given when it waits.
 * legs_slot_given(leg) is called either way, at once or from the loop; legs_slot_failed(leg) if
 * making it failed.  -errno when it cannot even be begun. */
int slot_take(struct warden *warden, struct leg *leg, bool host_network);

/* LEG goes away before its slot was given. */
void slots_forget(struct warden *warden, const struct leg *leg);

/* Ends all that runs in it, then takes it down; the cgroup may outlive this call by moments, and is
 * retried until it is gone.  SLOT is gone after it. */
void slot_leave(struct slot *slot);

/* At the very end, where the loop does not turn any more: kills, and waits a moment.  False:
 * something in it still lives. */
bool slot_put_down(struct slot *slot);

void slots_close(struct warden *warden);
