/* joins.h - denials that wait for the record that says whose call it was.
 *
 * The records of one call bear one serial; that of the call itself comes at its end, those of
 * several processors are mixed.  A process that was there before the audit system was switched on
 * has no record of its calls: its denials pass on without a who, after a moment.
 */
#pragma once

#include "record.h"

#define JOINS_MAX 128
#define JOINS_WAIT_US 20000

struct join {
    struct record denial; /* kind 0: the place is free */
    uint64_t waits_since_us;
};

struct joins {
    struct join waiting[JOINS_MAX];
    size_t count;
};

typedef void joins_pass(void *context, const struct record *denial);

/* Takes a denial in; where there is no room the oldest passes on as it is. */
void joins_wait(struct joins *joins, const struct record *denial, uint64_t now_us, joins_pass *pass,
    void *context);

/* CALL (RECORD_CALL or RECORD_END): those of its serial pass on. */
void joins_meet(struct joins *joins, const struct record *call, joins_pass *pass, void *context);

/* Those pass on that waited long enough: since before BEFORE_US. */
void joins_expire(struct joins *joins, uint64_t before_us, joins_pass *pass, void *context);
