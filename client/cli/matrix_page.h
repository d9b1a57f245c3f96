/* matrix_page.h - what a report says, and how it is written. */
#pragma once

#include <jansson.h>
#include <stdio.h>

struct matrix_page {
    json_t *cells; /* the newest, with their arms; sorted */
    json_t *rungs, *claims, *machine;
};

/* The exit status. */
int matrix_page_load(struct matrix_page *ret);
void matrix_page_done(struct matrix_page *page);

void matrix_page_html(const struct matrix_page *page, FILE *out);
void matrix_page_markdown(const struct matrix_page *page, FILE *out);

/* What no cell can say, one a line; ends with NULL. */
extern const char *const matrix_limits[];
