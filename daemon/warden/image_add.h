/* image_add.h - an image that is being added: for images.c, image_ask.c and image_add.c. */
#pragma once

#include "fronts.h"
#include "ledger_images.h"

struct adding {
    TAILQ_ENTRY(adding) entry;
    struct warden *warden;
    struct front *front;
    uint64_t request, id;
    struct peer peer;
    char *name, *reference, *staged;
    uint64_t max_bytes, max_entries;
    int source;
    bool directory, running;
    struct program_child unpacker;
    struct event *readable, *deadline;
    uint8_t digests[IMAGE_LAYERS_MAX][DIGEST_BYTES];
    char *layers[IMAGE_LAYERS_MAX]; /* in the store, by index; NULL: not known yet */
    bool fresh[IMAGE_LAYERS_MAX];
    struct layer_record records[IMAGE_LAYERS_MAX];
    uint32_t n_layers;
    struct account_record *accounts;
    uint32_t n_accounts;
};

/* image_add.c: frees ADDING, and what it has staged goes. */
void adding_free(struct adding *adding);
/* The same, after telling its client why. */
void adding_give_up(struct adding *adding, enum reason reason, const char *detail);
/* Those that may begin do; any may be gone after it. */
void addings_start(struct warden *warden);

/* images.c: false: the front is gone. */
bool image_tell(struct front *front, uint64_t request, const struct image_record *image);

/* image_add.c: an add under way counts on LAYER. */
bool image_add_wants(const struct warden *warden, const char *layer);
