/* machine.h - the machine row: what saphan-probe measured on this host, when and where. */
#pragma once

#include "warden.h"

/* The bound of the whole probe: longer than that of one attempt of its own (attempt.h). */
#ifdef SAPHAN_SANITIZED
#define PROBE_SECONDS 45
#else
#define PROBE_SECONDS 15
#endif

#define MACHINE_COMMAND "saphan machine probe-confinement"

struct machine_report {
    struct machine_row row;
    struct rung_facet facets[RUNG_FACETS_MAX];
    uint32_t n_facets;
    int64_t at_ms;
    uint64_t began_us, took_us;
    uint64_t number; /* in the ledger; 0: not written */
    char kernel[136], distribution[128], boot_id[64], host[80];
};

/* Runs the probe to its end, within a deadline, and writes the row down.  A rung that it did not
 * come to is broken: its helper hung or died.  At start only: it waits. */
int machine_measure(struct warden *warden);

/* -- the parts, for measuring.c -- */
/* An empty report of this moment; NULL: no memory. */
struct machine_report *machine_report_new(void);
/* One message of the probe. */
void machine_report_take(struct machine_report *report, const struct seam_message *message);
/* The probe ended with R: what it did not say is broken; the row is written down and from now on
 * the one that is decided by.  REPORT is consumed. */
void machine_report_adopt(struct warden *warden, struct machine_report *report, int r);
void machine_close(struct warden *warden);
