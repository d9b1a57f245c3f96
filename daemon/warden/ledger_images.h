/* ledger_images.h - images, their layers and the accounts they know, as the ledger has them. */
#pragma once

#include "ledger.h"

/* Strings back to back, each with its NUL. */
struct string_block {
    char *bytes;
    uint32_t size, count;
};

struct image_record {
    char *name;
    uint32_t owner;
    uint8_t digest[DIGEST_BYTES];
    char *architecture, *user, *directory; /* "" where it says nothing */
    struct string_block env, entrypoint, command;
    char *layers[IMAGE_LAYERS_MAX]; /* names in the store, the lowest first */
    uint32_t n_layers;
    uint64_t bytes, entries, shared_bytes;
    int64_t added_ms;
};
void image_record_done(struct image_record *image);

struct layer_record {
    const char *name;
    uint32_t owner;
    uint8_t digest[DIGEST_BYTES];
    uint64_t bytes, entries;
};

struct account_record {
    bool group;
    uint32_t id, gid;
    char *name;
};

/* The row before the effect: an image is being added.  *RET_ID names its staging directory. */
int ledger_image_add_begin(
    struct ledger *ledger, const char *name, uint32_t owner, uint64_t *ret_id);
void ledger_image_add_end(struct ledger *ledger, uint64_t id);
/* None is under way: those that were died with the last saphand. */
int ledger_image_adds_forget(struct ledger *ledger);

/* The image, its new layers and accounts in the place of the old ones by that name, and the end of
 * the add ID.  Durable on return. */
int ledger_image_put(struct ledger *ledger, uint64_t id, const struct image_record *image,
    const struct layer_record *layers, uint32_t n_layers, const struct account_record *accounts,
    uint32_t n_accounts);

/* -ENOENT.  *RET is image_record_done()'s. */
int ledger_image_get(struct ledger *ledger, const char *name, struct image_record *ret);
int ledger_image_remove(struct ledger *ledger, const char *name); /* -ENOENT */
/* The next name behind AFTER, in order, takes its place; "" stands before the first.  -ENOENT. */
int ledger_image_next(struct ledger *ledger, char after[IMAGE_NAME_MAX + 1]);
void string_list_free(char **list);

/* What the account NAME, or ID, of IMAGE is.  -ENOENT. */
int ledger_image_account(struct ledger *ledger, const char *image, bool group, const char *name,
    uint32_t *ret_id, uint32_t *ret_gid);
int ledger_image_uid(
    struct ledger *ledger, const char *image, uint32_t uid, uint32_t *ret_gid, char **ret_name);

/* The layer of DIGEST that OWNER may share: its own, or root's.  -ENOENT. */
int ledger_layer_find(
    struct ledger *ledger, const uint8_t digest[DIGEST_BYTES], uint32_t owner, char **ret_name);
/* 1: it has a row; 0; -errno. */
int ledger_layer_known(struct ledger *ledger, const char *name);
/* Those that no image has: a NULL-terminated list, freed as a whole with its strings. */
int ledger_layers_unused(struct ledger *ledger, char ***ret);
int ledger_layer_forget(struct ledger *ledger, const char *name);
