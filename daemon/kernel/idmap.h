/* idmap.h - a user namespace that is nothing but an id map, for mount_setattr(2).
 *
 * user_namespaces(7), mount_setattr(2) "ID-mapped mounts".
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* COUNT ids from INSIDE on are those from OUTSIDE on.  For a mount: INSIDE is what stands on disk,
 * OUTSIDE what the kernel takes it for. */
struct idmap_extent {
    uint32_t inside, outside, count;
};

#define IDMAP_EXTENTS_MAX 72 /* a map is written at once, within a page */

/* Its descriptor or -errno.  No process is left in it. */
int idmap_namespace(
    const struct idmap_extent *uids, size_t n_uids, const struct idmap_extent *gids, size_t n_gids);

/* The ids 0 to COUNT - 1 are those from BASE on, but that of A and B each takes the other's place.
 * Returns how many of EXTENTS are filled. */
size_t idmap_swapped(
    uint32_t a, uint32_t b, uint32_t base, uint32_t count, struct idmap_extent *extents);
