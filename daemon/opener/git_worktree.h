/* git_worktree.h - where the .git file of a linked worktree leads, and whether that is true.
 *
 * A linked worktree's .git is a file with "gitdir: DIR", where DIR is REPOSITORY/worktrees/NAME.
 * Anyone who may write in the worktree can write that line, so it is only believed when the other
 * side says the same (gitrepository-layout(5)): DIR/gitdir names this very .git, and DIR/commondir
 * names the REPOSITORY in whose worktrees/ DIR lies.
 */
#pragma once

#include "open.h"

/* WORKSPACE is an O_PATH directory.  1: the git_ fields of *RET are filled; 0: no linked worktree
 * (.git is absent, or no regular file), and *RET is untouched; -EXDEV: the pointer does not hold;
 * -errno for what is no fault of the pointer's (-ENOMEM, -EMFILE, -ENOSYS). */
int git_worktree_find(int workspace, struct open_result *ret);
