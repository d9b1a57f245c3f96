/* mount_table.h - where files really lie: the same file has many names by bind mounts, and one
 * place: a device and a path in its file system.  See proc_pid_mountinfo(5). */
#pragma once

#include "own.h"
#include <stdbool.h>
#include <stdint.h>

struct mount_entry {
    uint64_t id, device;
    char *root;  /* what of the file system stands at ... */
    char *point; /* ... this place of our mount namespace */
    char *type;  /* of the file system: "ext4", "fuse.sshfs" */
};

struct mount_table {
    struct mount_entry *entries;
    uint32_t count;
};

int mount_table_read(struct mount_table *ret);
void mount_table_done(struct mount_table *table);

/* The mount with ID, or NULL: not one of our mount namespace. */
const struct mount_entry *mount_table_find(const struct mount_table *table, uint64_t id);

/* Served by a process of some user's (FUSE): whoever walks into it waits for that process. */
bool mount_entry_is_users_own(const struct mount_entry *mount);

/* PATH, which lies on MOUNT, as a path in the file system.  NULL: it does not, or no memory. */
char *mount_entry_place(const struct mount_entry *mount, const char *path);
