/* listener.h - the socket: who connects is read from the socket itself, then a front has it. */
#pragma once

#include "warden.h"

/* Takes the socket that systemd passed, or makes options.socket (0660, root:socket_group). */
int listener_open(struct warden *warden);
void listener_close(struct warden *warden);
