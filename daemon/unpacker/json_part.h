/* json_part.h - a bounded part of an image that is JSON, held to its digest. */
#pragma once

#include "image_source.h"
#include <jansson.h>

/* The file NAME.  DIGEST (32 bytes) may be NULL; *RET is the caller's. */
int json_part_read(const struct source *source, const char *name, const uint8_t *digest,
    json_t **ret, struct trouble *trouble);

/* The blob that is called by its digest, "sha256:HEX". */
int json_part_blob(
    const struct source *source, const char *digest, json_t **ret, struct trouble *trouble);

/* "sha256:HEX" into 32 bytes and the blob's name in a layout. */
#define BLOB_NAME_MAX 96
int json_part_digest(
    const char *text, uint8_t ret[32], char ret_name[BLOB_NAME_MAX], struct trouble *trouble);

/* The string NAME of OBJECT, or NULL. */
const char *json_part_string(const json_t *object, const char *name);
