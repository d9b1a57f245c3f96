/* image_messages.h - the structs of messages.h that are about images. */
#pragma once

#include "channel.h"

#define IMAGE_LAYERS_MAX 100
#define IMAGE_NAME_MAX 128
#define IMAGE_ACCOUNTS_MAX 4096
#define DIGEST_BYTES 32 /* sha256 */

struct seam_ask_image {
    struct seam_text name, reference; /* reference: which image of a source that holds several */
    uint32_t has_source;              /* 1: descriptor 0 is it */
    uint32_t reserved;
};

struct seam_image {
    struct seam_text name, owner; /* the owner's name, or its number */
    struct seam_text architecture, user, directory;
    struct seam_list env, entrypoint, command;
    uint32_t uid; /* of the owner */
    uint32_t n_layers;
    uint64_t bytes, entries; /* unpacked, all layers */
    uint64_t shared_bytes;   /* of these, in layers that another image has too */
    int64_t added_ms;
    uint8_t digest[DIGEST_BYTES]; /* of its configuration */
    uint32_t legs;                /* that run in it now */
    uint32_t reserved;
};

struct seam_unpack {
    uint64_t max_bytes, max_entries;
    uint32_t
        plain_ids; /* 1: the source shows its owners as they are; 0: the requester's own are 0 */
    uint32_t reserved;
    struct seam_text reference;
};

struct seam_unpack_layers {
    uint32_t n_layers;
    uint32_t reserved;
    uint8_t digests[IMAGE_LAYERS_MAX][DIGEST_BYTES]; /* of the layers' tar, the lowest first */
};

struct seam_unpack_have {
    uint8_t have[IMAGE_LAYERS_MAX]; /* 1: it need not be unpacked */
    uint8_t reserved[4];
};

struct seam_unpacked_layer {
    uint32_t layer; /* index; it stands in the staging directory by this number */
    uint32_t reserved;
    uint64_t bytes, entries;
    uint8_t digest[DIGEST_BYTES];
};

struct seam_unpacked_account {
    uint32_t group; /* 1: a group */
    uint32_t id, gid;
    uint32_t reserved;
    struct seam_text name;
};

struct seam_unpacked {
    struct seam_text architecture, user, directory; /* user: as the image says it */
    struct seam_list env, entrypoint, command;
    uint32_t n_layers;
    uint32_t reserved;
    uint8_t digest[DIGEST_BYTES];
};

struct seam_unpack_refused {
    uint32_t reason; /* enum reason */
    int32_t error;   /* positive errno, or 0 */
    struct seam_text detail;
};
