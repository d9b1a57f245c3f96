/* matrix_cells.h - cells of the matrix as JSON objects, which the words of `saphan matrix` work on.
 */
#pragma once

#include "json.h"

#define JSON_SCHEMA_MATRIX "saphan.matrix/1"

/* NULL: out of memory.  With an empty array "arms"; BRIEF: what a table shows, and without. */
json_t *matrix_cell(const struct saphan_cell *cell, bool brief);
json_t *matrix_arm(const struct saphan_arm *arm);

enum matrix_detail { MATRIX_BRIEF, MATRIX_CELLS, MATRIX_ARMS };

/* All cells that WHAT asks for, page by page.  The exit status; *RET is an array, the caller's,
 * when it is 0. */
int matrix_load(enum saphan_matrix_what what, const char *vendor, enum matrix_detail detail,
    uint64_t cell, json_t **ret);

/* By vendor, boundary, its sandbox and version.  The exit status; *CELLS is gone when it is not 0.
 */
int matrix_sort(json_t **cells);

/* The text of a field as it is ("" where there is none); not escaped. */
const char *matrix_text(const json_t *object, const char *field);
long long matrix_number(const json_t *object, const char *field);

/* "turn", "the vendor's turn inside the boundary ..." */
const char *matrix_arm_name(unsigned int arm);
const char *matrix_arm_meaning(unsigned int arm);

/* The verdict as people are to read it: what is silent is said in capitals, what is stale so. */
const char *matrix_verdict(const json_t *cell);
/* What it leaves to be done. */
const char *matrix_remedy(const json_t *cell);

/* WORDS as a shell would have to be given them; NULL: no memory. */
char *matrix_quote(const char *const *words, size_t count);
