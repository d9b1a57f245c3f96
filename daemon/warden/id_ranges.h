/* id_ranges.h - which 65,536 ids a leg has: one range a slot, from 0x70000000 up.
 *
 * Several saphands can run on one machine (a private one beside the system's).  Each holds a block
 * of ranges of its own, by a lock on a file that only root can open, and no leg of root's: the
 * kernel lets go of it when the daemon dies, whatever way.
 */
#pragma once

#include "warden.h"

#define ID_RANGE_SIZE 65536U
#define ID_LOCK_FILE "/run/saphan.ids" /* there from id_ranges_open() to id_ranges_close() */

/* Takes a free block. -EADDRINUSE when all are held: it is logged. */
int id_ranges_open(struct warden *warden);
void id_ranges_close(struct warden *warden);

/* -EUSERS when none is free.  *RET_BASE is the first id of the range. */
int id_range_take(struct warden *warden, uint32_t *ret_base);
void id_range_return(struct warden *warden, uint32_t base);
