/* decode_cell.h - the requests about the matrix; decode.c alone uses it. */
#pragma once

#include "decode.h"
#include "form.h"
#include "saphan.pb-c.h"

int decode_cell(struct form *form, const Saphan__V1__CellStep *step, struct ask *ask);
int decode_arm(struct form *form, const Saphan__V1__ArmStep *step, struct ask *ask);
int decode_matrix(struct form *form, const Saphan__V1__Matrix *matrix, struct ask *ask);
