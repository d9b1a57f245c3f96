/* own_paths.h - saphand's own files, which no write grant may cover. */
#pragma once

#include "mount_table.h"
#include "warden.h"

/* Remembers each own path (socket, state, policy, configuration, programs, lock of ids) and, by
 * device and inode, every directory above it.  After id_ranges_open(). */
int own_paths_open(struct warden *warden);
void own_paths_close(struct warden *warden);

/* Would a write grant of PATH (DEV, INO) on MOUNT let a leg change one of our files?  True when it
 * is one of them, above one, or inside one, by whatever name: bind mounts above, below and of it
 * are seen through. */
bool own_paths_covered(const struct warden *warden, const struct mount_table *table,
    const struct mount_entry *mount, const char *path, uint64_t dev, uint64_t ino);
