/* image_store.h - where unpacked images lie, and who may touch them.
 *
 *   STATE/images/staging/   add-N: one that is being added; gone-N: one that is being emptied
 *   STATE/images/layers/    HEX-UID: a layer, by the digest of its tar and by whose image brought
 * it
 *
 * The files belong to ids of the store's own, which no process of the host has: a setuid root
 * program of an image is setuid to one of these.  A leg's layer is mapped from them to the leg's
 * range.  A layer is shared among its user's images, and root's among all: an unpacker that was
 * taken over by an image could put anything under a digest, and so reaches its own user alone.
 */
#pragma once

#include "warden.h"

/* Ids 0 to 65535 of an image are those from here on, on disk.  Below every leg's. */
#define STORE_ID 0x6ffe0000U

/* Makes what is missing; what a dead saphand left half added, and layers that no image has, begin
 * to be emptied. */
int image_store_open(struct warden *warden);
void image_store_close(struct warden *warden);

/* A new empty directory NAME in staging, the store's.  *RET_FD is a detached mount of it. */
int image_store_stage(struct warden *warden, const char *name, int *ret_fd);

/* Makes staging/FROM/INDEX the layer LAYER.  0 too where that is there already. */
int image_store_keep(struct warden *warden, const char *from, uint32_t index, const char *layer);
/* What was kept is on disk. */
int image_store_sync(struct warden *warden);

/* A detached mount of LAYER. */
int image_store_layer(const struct warden *warden, const char *layer);

/* staging/NAME is emptied by an unpacker, and removed, in its turn. */
void image_store_discard(struct warden *warden, const char *name);
/* LAYER goes the same way.  0 or -errno. */
int image_store_drop(struct warden *warden, const char *layer);

/* The user namespace that maps the store's ids to those from BASE on; stays the store's. */
int image_store_map(struct warden *warden, uint32_t base, int *ret_user_namespace);

/* An empty root for it. */
int image_store_nowhere(const struct warden *warden);

/* Starts an unpacker with a channel.  It is root of a user namespace whose ids are the store's. */
struct program_child;
int image_store_unpacker(struct warden *warden, struct program_child *ret);
