/* matrix_wire.h - cells and arms between the public structs and the wire. */
#pragma once

#include "saphan.h"
#include "saphan.pb-c.h"

/* Fill OUT so that it points into CELL or ARM. */
void cells_put_cell(const struct saphan_cell *cell, Saphan__V1__Cell *out);
void cells_put_arm(const struct saphan_arm *arm, Saphan__V1__Arm *out);

/* READ copies bytes that hold no NUL: 0, or what cells_read_*() return. */
typedef int cells_read(void *context, const ProtobufCBinaryData *bytes, const char **ret);
int cells_read_cell(
    cells_read *read, void *context, const Saphan__V1__Cell *cell, struct saphan_event *ret);
int cells_read_arm(
    cells_read *read, void *context, const Saphan__V1__Arm *arm, struct saphan_event *ret);
