/* listener.h - the socket: who connects is read from the socket itself, then a front has it. */
#pragma once

#include "warden.h"

/* Takes the socket that systemd passed, or makes options.socket (0660, root:socket_group). */
int listener_open(struct warden *warden);
void listener_close(struct warden *warden);

/* Connections are accepted again, after a time without a process that could serve one. */
void listener_resume(struct warden *warden);
