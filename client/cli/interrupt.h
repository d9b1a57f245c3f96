/* interrupt.h - SIGINT, SIGTERM and SIGHUP, noticed only while we wait. */
#pragma once

#include <signal.h>

/* Blocks the three and takes note of them; one that was ignored when we started stays ignored. */
void interrupt_watch(void);

/* The mask to wait with: as it was before interrupt_watch(). */
const sigset_t *interrupt_mask(void);

/* The signal that came since the last call, or 0. */
int interrupt_take(void);
