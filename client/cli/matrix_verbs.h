/* matrix_verbs.h - the words of `saphan matrix`; each gets what stands behind it. */
#pragma once

#include <jansson.h>

int verb_matrix_measure(int argc, char **argv);
int verb_matrix_show(int argc, char **argv);
int verb_matrix_history(int argc, char **argv);
int verb_matrix_export(int argc, char **argv);
int verb_matrix_import(int argc, char **argv);
int verb_matrix_report(int argc, char **argv);

/* One cell with its arms, for people. */
void matrix_print_cell(const json_t *cell);
