/* json.h - one JSON object a line on standard output, as JSON.md says. */
#pragma once

#include "saphan.h"
#include <jansson.h>

#define JSON_SCHEMA_RUN "saphan.run/1"
#define JSON_SCHEMA_LEGS "saphan.legs/1"
#define JSON_SCHEMA_MACHINE "saphan.machine/1"
#define JSON_SCHEMA_IMAGES "saphan.images/1"
#define JSON_SCHEMA_WHY "saphan.why/1"

/* A text of any bytes: a string, or {"base64": "..."} where it is not UTF-8. */
json_t *json_text(const char *text);
json_t *json_base64(const void *bytes, size_t size);

/* Writes OBJECT, which is consumed (NULL: out of memory), as one line in one write.  0, or
 * EXIT_OURS after saying why. */
int json_line(json_t *object);
