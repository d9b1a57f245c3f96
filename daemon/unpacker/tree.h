/* tree.h - one layer as it is written: a directory, and nothing that leads out of it.
 *
 * Names come from an archive or another tree.  Each is opened component by component beneath the
 * layer's root, and no link is followed, not one of the layer's own either: a file that would land
 * behind a link is refused, with its name.
 */
#pragma once

#include "trouble.h"
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#define TREE_DEPTH_MAX 200 /* names in one path: what is made must also be removed again */

struct tree {
    int root;
    FILE *times; /* of directories: set in the end, when nothing more is made in them */
    char parent[PATH_MAX];
    int parent_fd; /* of it, or -EBADF */
    uint64_t bytes, entries;
    uint64_t max_bytes, max_entries; /* of the whole image, with what other layers took */
};

struct tree_entry {
    const char *path; /* as it was given, for messages */
    mode_t mode;      /* type and permissions */
    uint64_t uid, gid;
    struct timespec mtime;
};

/* ROOT is an empty directory, and stays the caller's. */
int tree_init(struct tree *tree, int root);
void tree_done(struct tree *tree);

/* The normal form of NAME without "." components: "a/b", or "" for the root itself.  Refused: one
 * that is absolute, empty, has "..", or is too long. */
int tree_name(const char *name, char ret[PATH_MAX], struct trouble *trouble);

/* Each makes what is at PATH (of tree_name()) new; what stood there goes, but a directory stays
 * one. All count the entry; 0, UNPACK_E_REFUSED. */
int tree_directory(
    struct tree *tree, const char *path, const struct tree_entry *entry, struct trouble *trouble);
/* *RET_FD is the empty file; tree_file_done() takes it. */
int tree_file(struct tree *tree, const char *path, const struct tree_entry *entry, int *ret_fd,
    struct trouble *trouble);
int tree_file_done_take(
    struct tree *tree, int fd, const struct tree_entry *entry, struct trouble *trouble);
int tree_link(struct tree *tree, const char *path, const struct tree_entry *entry,
    const char *target, struct trouble *trouble);
int tree_hard_link(struct tree *tree, const char *path, const struct tree_entry *entry,
    const char *target, struct trouble *trouble);
int tree_fifo(
    struct tree *tree, const char *path, const struct tree_entry *entry, struct trouble *trouble);

/* What a layer takes away of those below it: PATH's last component is .wh.NAME or .wh..wh..opq. */
bool tree_is_whiteout(const char *path);
int tree_whiteout(
    struct tree *tree, const char *path, const struct tree_entry *entry, struct trouble *trouble);

/* SIZE more bytes are about to be written. */
int tree_count(struct tree *tree, const char *path, uint64_t size, struct trouble *trouble);

/* The times of directories. */
int tree_finish(struct tree *tree, struct trouble *trouble);
