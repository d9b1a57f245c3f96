/* open.h - one path of the requester's, opened, with what its .git file leads to. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What one path led to.  Takes over nothing; the descriptors are O_PATH and open_result_done()
 * closes them. */
struct open_result {
    int descriptor; /* or -errno */
    int git;        /* 1: a linked worktree, and the two below are filled; 0: none; or -errno:
                       -EXDEV when the .git file's pointer does not hold */
    int git_dir, git_common;
    char *git_dir_path, *git_common_path; /* the kernel's own names */
};

/* Opens PATH, which must be absolute, with openat2(2) and no magic link: a number in /proc never
 * stands for somebody's descriptor.  Symlinks are followed: they are the requester's own. */
void open_path(const char *path, bool follow_git, struct open_result *ret);
void open_result_done(struct open_result *result);
