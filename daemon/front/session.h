/* session.h - one connection from its first frame to its end. */
#pragma once

#include <stdint.h>

/* Microseconds.  Tests make them short; nothing else differs. */
struct session_bounds {
    uint64_t frame_us;  /* a frame is complete this long after its first byte */
    uint64_t idle_us;   /* a connection that asks nothing is closed */
    uint64_t stall_us;  /* a client that takes no byte of what waits for it is closed */
    uint64_t follow_us; /* how often a kept file is looked at while its leg runs */
    uint64_t again_us;  /* how often the warden is asked whether a followed leg still runs */
};

extern const struct session_bounds session_bounds_standard;

/* Serves CLIENT (a connected stream socket) on behalf of the warden at the other end of CHANNEL
 * until one of them is gone or breaks a bound; SEAM_CLIENT_GONE is sent unless the warden is gone.
 * Takes CLIENT.  0, or -errno when the warden or this process broke its own rules. */
int session_run_take(int channel, int client, const struct session_bounds *bounds);
