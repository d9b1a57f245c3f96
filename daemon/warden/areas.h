/* areas.h - what a leg's boundary shows and where it stops, as lines for the ledger: the record
 * that `saphan why` reads. */
#pragma once

#include "leg.h"

/* Strings of the form of why.h, each with its NUL.  -ENOMEM. */
int areas_write(const struct leg *leg, char **ret_lines, size_t *ret_size);

/* To what is recorded: where the carve-outs that are links led, as the stub's READY says. */
void areas_add_led(const struct leg *leg, const struct seam_message *message);
