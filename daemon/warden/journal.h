/* journal.h - entries with fields for the systemd journal: sd_journal_send(3). */
#pragma once

#include "leg.h"

/* What LEG's door decided, or that its list was changed. */
void journal_door(const struct leg *leg, enum event_kind kind, enum reason reason,
    const char *subject, const char *detail);
void journal_leg_ended(const struct leg *leg, const struct verdict *verdict);
