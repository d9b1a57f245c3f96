/* worktree.h - a linked git worktree: where its repository really is. */
#pragma once

#include "client_arena.h"
#include "saphan.h"

/* What the .git FILE of a workspace points to, believed only because it points back. */
struct worktree {
    int git_dir; /* O_PATH, owned; -EBADF: the workspace is no linked worktree */
    int common;  /* O_PATH, owned */
    const char *git_dir_path, *common_path; /* for messages */
};

#define WORKTREE_NONE ((struct worktree){.git_dir = -EBADF, .common = -EBADF})

void worktree_done(struct worktree *worktree);

#define auto_worktree __attribute__((cleanup(worktree_done)))

/* Looks at .git in the directory WORKSPACE.  A directory, a link or nothing there: 0 and no
 * descriptors.  SAPHAN_E_WORKTREE: it is a file whose repository does not point back to exactly it.
 */
int worktree_find(
    int workspace, struct arena *arena, struct worktree *ret, struct saphan_error *error);
