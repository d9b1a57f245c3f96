/* text_report.h - a leg's events and verdict for people, on standard error. */
#pragma once

#include "saphan.h"

#define REPORT_TOLD_MAX 16

struct text_report {
    char *told[REPORT_TOLD_MAX]; /* denials and notes, shown with the verdict: never amid output */
    size_t n_told, more_told;
};

void text_report_done(struct text_report *report);

/* Keeps what is to be shown at the end. */
void text_report_event(struct text_report *report, const struct saphan_event *event);

/* The last lines: each reason with its remedy, then colour, exit, time and walls.  ADVICE may be
 * NULL. */
void text_report_end(
    const struct text_report *report, const struct saphan_event *event, const char *advice);
