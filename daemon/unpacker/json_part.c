#include "json_part.h"

#include "own.h"
#include "text.h"
#include <errno.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART_MAX (4U << 20)

int json_part_digest(
    const char *text, uint8_t ret[32], char ret_name[BLOB_NAME_MAX], struct trouble *trouble)
{
    if (!text || !text_starts_with(text, "sha256:") || text_parse_sha256(text + 7, ret) < 0)
        return trouble_set(trouble, REASON_IMAGE_INCOMPLETE, 0, "%.100s: no sha256 digest",
            text ? text : "a descriptor");
    (void)snprintf(ret_name, BLOB_NAME_MAX, "blobs/sha256/%s", text + 7);
    return 0;
}

const char *json_part_string(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static int check_digest(
    const char *name, const char *text, size_t size, const uint8_t *digest, struct trouble *trouble)
{
    uint8_t found[SHA256_DIGEST_SIZE];
    struct sha256_ctx context;

    sha256_init(&context);
    sha256_update(&context, size, (const uint8_t *)text);
    sha256_digest(&context, SHA256_DIGEST_SIZE, found);
    if (memcmp(found, digest, sizeof(found)) != 0)
        return trouble_set(trouble, REASON_IMAGE_DIGEST, 0, "%s", name);
    return 0;
}

static int read_whole(const struct blob *blob, char *text)
{
    uint64_t at = 0;

    while (at < blob->size) {
        long n = blob_read(blob, at, text + at, blob->size - at);

        if (n <= 0)
            return n < 0 ? (int)n : -ENODATA;
        at += (uint64_t)n;
    }
    return 0;
}

int json_part_read(const struct source *source, const char *name, const uint8_t *digest,
    json_t **ret, struct trouble *trouble)
{
    auto_free char *text = NULL;
    struct blob blob;
    size_t size;
    json_error_t error;
    int r = source_find(source, name, &blob);

    if (r < 0)
        return trouble_set(trouble, REASON_IMAGE_INCOMPLETE, -r, "%s", name);
    size = blob.size;
    r = size > PART_MAX ? -EFBIG : 0;
    text = r == 0 ? malloc(size + 1) : NULL;
    if (r == 0)
        r = text ? read_whole(&blob, text) : -ENOMEM;
    blob_done(&blob);
    if (r < 0)
        return trouble_set(trouble, REASON_IMAGE_INCOMPLETE, -r, "%s", name);
    r = digest ? check_digest(name, text, size, digest, trouble) : 0;
    if (r != 0)
        return r;
    *ret = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!*ret)
        return trouble_set(
            trouble, REASON_IMAGE_INCOMPLETE, 0, "%s: not JSON: %s", name, error.text);
    return 0;
}

int json_part_blob(
    const struct source *source, const char *digest, json_t **ret, struct trouble *trouble)
{
    char name[BLOB_NAME_MAX];
    uint8_t wanted[32];
    int r = json_part_digest(digest, wanted, name, trouble);

    return r != 0 ? r : json_part_read(source, name, wanted, ret, trouble);
}
