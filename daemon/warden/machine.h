/* machine.h - the machine row: what saphan-probe measured on this host, at this start. */
#pragma once

#include "warden.h"

/* Runs the probe to its end, within a deadline.  A rung it did not come to stays never-asked. */
int machine_measure(struct warden *warden);
