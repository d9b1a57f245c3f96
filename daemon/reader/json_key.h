/* json_key.h - one value out of a JSON text.
 *
 * Read strictly: a comment, a key that stands twice, text behind the end are errors, even where a
 * vendor's own reader lets them pass: what two readers could read differently is not guessed at.
 */
#pragma once

#include "nesting.h"
#include <stddef.h>

/* Looks KEY ("sandbox.enabled") up in TEXT.  Fills *RET. */
void json_key(const char *text, size_t length, const char *key, struct nesting_answer *ret);
