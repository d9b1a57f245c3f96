/* A leg that ran here before, or whoever made the workspace, may have written the .git file: it can
 * name anybody's repository.  What cannot be written from the workspace is the back pointer, so
 * that decides:
 *
 *   WORKSPACE/.git                    "gitdir: G"
 *   G/gitdir                          names exactly WORKSPACE/.git   (same device and inode)
 *   G/commondir                       names C, and G lies directly in C/worktrees
 *   C/objects, C/refs, C/HEAD         exist
 *
 * See gitrepository-layout(5).
 */
#include "worktree.h"

#include "descriptor.h"
#include "failure.h"
#include "place.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define POINTER_MAX 4096U

void worktree_done(struct worktree *worktree)
{
    close_fd(&worktree->git_dir);
    close_fd(&worktree->common);
}

/* Reads the one line of the regular file NAME in DIRFD. */
static int read_pointer(int dirfd, const char *name, char **ret_line)
{
    auto_close int fd = -EBADF;
    auto_free char *line = NULL;
    struct stat st;
    char link[64];
    size_t length;
    int r;

    r = place_open(dirfd, name, O_NOFOLLOW, &fd);
    if (r < 0)
        return r;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EINVAL; /* a FIFO would hang us */
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    r = descriptor_read_file(AT_FDCWD, link, POINTER_MAX, &line);
    if (r < 0)
        return r;
    length = strcspn(line, "\n");
    if (line[length] == '\n' && line[length + 1])
        return -EINVAL;
    line[length] = '\0';
    *ret_line = steal_ptr(line);
    return 0;
}

static bool same_file(int a, int b)
{
    struct stat one, other;

    return fstat(a, &one) == 0 && fstat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* The back pointer names exactly the file we came from. */
static bool points_back(int git_dir, int dot_git)
{
    auto_free char *line = NULL;
    auto_close int named = -EBADF;

    return read_pointer(git_dir, "gitdir", &line) == 0 && line[0] &&
           place_open(git_dir, line, O_NOFOLLOW, &named) == 0 && same_file(named, dot_git);
}

static bool is_repository(int common)
{
    static const char *const parts[] = {"objects", "refs", "HEAD"};

    for (size_t i = 0; i < array_size(parts); i++) {
        if (faccessat(common, parts[i], F_OK, AT_SYMLINK_NOFOLLOW) < 0)
            return false;
    }
    return true;
}

/* Opens the common directory, if the repository it makes owns this gitdir. */
static int open_common(int git_dir, int *ret_common)
{
    auto_free char *line = NULL;
    auto_close int common = -EBADF, list = -EBADF, above = -EBADF;
    int r;

    r = read_pointer(git_dir, "commondir", &line);
    if (r == 0)
        r = line[0] ? place_open(git_dir, line, O_DIRECTORY, &common) : -EINVAL;
    if (r == 0)
        r = place_open(common, "worktrees", O_DIRECTORY | O_NOFOLLOW, &list);
    if (r == 0)
        r = place_open(git_dir, "..", O_DIRECTORY, &above);
    if (r < 0)
        return r;
    if (!same_file(list, above) || !is_repository(common))
        return -EINVAL;
    *ret_common = steal_fd(&common);
    return 0;
}

static int fill_paths(struct worktree *worktree, struct arena *arena)
{
    auto_free char *git_dir = NULL, *common = NULL;
    int r;

    r = descriptor_path(worktree->git_dir, &git_dir);
    if (r == 0)
        r = descriptor_path(worktree->common, &common);
    if (r < 0)
        return r;
    worktree->git_dir_path = arena_copy(arena, git_dir, strlen(git_dir));
    worktree->common_path = arena_copy(arena, common, strlen(common));
    return worktree->git_dir_path && worktree->common_path ? 0 : -ENOMEM;
}

static int forged(struct saphan_error *error, const char *what, const char *pointer)
{
    return failure(error, SAPHAN_E_WORKTREE, "worktree-forged",
        "the workspace's .git file names %s, %s: repair it with `git worktree repair`, or leave "
        "--git "
        "out",
        pointer, what);
}

int worktree_find(
    int workspace, struct arena *arena, struct worktree *ret, struct saphan_error *error)
{
    auto_worktree struct worktree found = WORKTREE_NONE;
    auto_close int dot_git = -EBADF;
    auto_free char *line = NULL;
    const char *pointer;
    struct stat st;
    int r;

    r = place_open(workspace, ".git", O_NOFOLLOW, &dot_git);
    if (r == -ENOENT)
        return 0;
    if (r < 0 || fstat(dot_git, &st) < 0)
        return failure(error, r < 0 ? r : -errno, "worktree", ".git");
    if (!S_ISREG(st.st_mode))
        return 0;
    r = read_pointer(workspace, ".git", &line);
    if (r < 0)
        return failure(error, r, "worktree", ".git");
    if (!text_starts_with(line, "gitdir: ") || !line[strlen("gitdir: ")])
        return forged(error, "which is no pointer", line);
    pointer = line + strlen("gitdir: ");
    if (place_open(workspace, pointer, O_DIRECTORY, &found.git_dir) < 0)
        return forged(error, "which is no directory one can reach", pointer);
    if (!points_back(found.git_dir, dot_git))
        return forged(error, "which does not point back", pointer);
    if (open_common(found.git_dir, &found.common) < 0)
        return forged(error, "which lies in no repository's worktrees", pointer);
    r = fill_paths(&found, arena);
    if (r < 0)
        return failure(error, r, "worktree", "%s", pointer);
    *ret = found;
    found = WORKTREE_NONE;
    return 0;
}
