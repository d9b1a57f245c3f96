/* journal.h - entries with fields for the systemd journal: sd_journal_send(3). */
#pragma once

#include "leg.h"

void journal_leg_ended(const struct leg *leg, const struct verdict *verdict);
