/* cells_private.h - what the files of the cells share. */
#pragma once

#include "cells.h"
#include "ledger_cells.h"

/* A cell that an arm is told of: the asker's, not ended. */
struct owned_cell {
    const struct front *front;
    bool open;
    bool imported;
    int64_t begun_ms;
    char vendor[64], boundary[32];
};

/* False after a refusal. */
bool cells_find_own(struct front *front, uint64_t request, uint64_t cell, struct owned_cell *ret);
bool cells_refuse(
    struct front *front, uint64_t request, enum reason reason, const char *detail); /* false */

/* Why ROW says nothing any more; "" where it does.  PROGRAM and VERSION: of the vendor's program as
 * it is now; NULL: not known, then the newest version that was measured counts. */
void cells_find_stale(struct warden *warden, const struct cell_row *row, const char *program,
    const char *version, char why[CELL_STALE_MAX]);
