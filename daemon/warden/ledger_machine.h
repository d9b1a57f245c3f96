/* ledger_machine.h - the machine rows of the ledger. */
#pragma once

#include "ledger.h"
#include "machine.h"

/* Writes REPORT as a row with its rungs, and fills its number.  -EIO, -ENOSPC. */
int ledger_machine_put(struct ledger *ledger, struct machine_report *report);
