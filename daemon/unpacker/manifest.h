/* manifest.h - what an OCI layout or a docker-archive says it holds.
 *
 * The OCI image specification 1.1 (image-layout, index, manifest, config), and the manifest.json of
 * `docker save`.  Every part that has a digest is held to it before it is read.
 */
#pragma once

#include "image_source.h"
#include "messages.h"

enum compression {
    COMPRESSION_NONE,
    COMPRESSION_GZIP,
    COMPRESSION_ZSTD,
    COMPRESSION_FOUND, /* a docker-archive does not say: by its first bytes */
};

struct layer_source {
    struct blob blob;
    enum compression compression;
    bool has_digest; /* of the blob as it is stored */
    uint8_t digest[DIGEST_BYTES];
    uint8_t content[DIGEST_BYTES]; /* of the tar itself: the layer's name everywhere */
    char name[80];                 /* for messages */
};

struct description {
    uint8_t digest[DIGEST_BYTES]; /* of the configuration */
    char *architecture, *user, *directory;
    char **env, **entrypoint, **command;          /* NULL-terminated, or NULL */
    struct layer_source layers[IMAGE_LAYERS_MAX]; /* the lowest first */
    uint32_t n_layers;
};

/* Is there an OCI layout or a docker-archive in SOURCE at all? */
bool manifest_is_there(const struct source *source);

/* REFERENCE: the image's name in a source that holds several; NULL: the only one. */
int manifest_read(const struct source *source, const char *reference, struct description *ret,
    struct trouble *trouble);
void description_done(struct description *description);
