/* json_report.h - a leg's events and verdict for programs, on standard output. */
#pragma once

#include "saphan.h"

struct json_report {
    uint64_t leg;
    /* The beginning of a UTF-8 character whose rest comes with the next output of that stream. */
    unsigned char cut[2][4];
    size_t n_cut[2];
};

/* Each returns 0, or the status to end with when the line could not be written.  ADVICE may be
 * NULL. */
int json_report_event(
    struct json_report *report, const struct saphan_event *event, const char *advice);
int json_report_failed(const struct saphan_error *error);
