#include "git_worktree.h"

#include "descriptor.h"
#include "own.h"
#include "path.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define POINTER_MAX 4096
#define GITFILE_PREFIX "gitdir: "
#define BENEATH (PATH_BENEATH | PATH_NO_SYMLINKS)

static int same(int a, int b)
{
    struct stat one, other;

    if (fstat(a, &one) < 0 || fstat(b, &other) < 0)
        return -errno;
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino ? 0 : -EXDEV;
}

/* An O_PATH descriptor of the regular file NAME in DIRECTORY; -EXDEV when it is anything else. */
static int open_regular(int directory, const char *name)
{
    auto_close int fd = -EBADF;
    struct stat st;

    fd = path_open(directory, name, O_PATH | O_NOFOLLOW, BENEATH);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    return S_ISREG(st.st_mode) ? steal_fd(&fd) : -EXDEV;
}

/* Reads the whole of a small file that FOUND is the O_PATH descriptor of, without its line ends. */
static int read_pointer(int found, char ret_text[POINTER_MAX + 1])
{
    auto_close int fd = -EBADF;
    size_t length = 0;
    int r;

    fd = path_reopen(found, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fd;
    r = descriptor_read_up_to(fd, ret_text, POINTER_MAX + 1, &length);
    if (r < 0)
        return r;
    if (length > POINTER_MAX)
        return -EXDEV;
    while (length > 0 && (ret_text[length - 1] == '\n' || ret_text[length - 1] == '\r'))
        length--;
    ret_text[length] = '\0';
    return length > 0 && strlen(ret_text) == length ? 0 : -EXDEV;
}

static int read_pointer_in(int directory, const char *name, char ret_text[POINTER_MAX + 1])
{
    auto_close int found = open_regular(directory, name);

    return found < 0 ? found : read_pointer(found, ret_text);
}

/* What the .git file GITFILE in WORKSPACE names; relative to WORKSPACE, as git does. */
static int open_git_dir(int workspace, int gitfile)
{
    char text[POINTER_MAX + 1];
    int r;

    r = read_pointer(gitfile, text);
    if (r < 0)
        return r;
    if (!text_starts_with(text, GITFILE_PREFIX))
        return -EXDEV;
    return path_open(workspace, text + strlen(GITFILE_PREFIX), O_PATH | O_DIRECTORY, 0);
}

/* The other side's word: DIR/gitdir names this very .git file. */
static int check_back_pointer(int git_dir, int gitfile)
{
    char text[POINTER_MAX + 1];
    auto_close int back = -EBADF;
    int r;

    r = read_pointer_in(git_dir, "gitdir", text);
    if (r < 0)
        return r;
    back = path_open(git_dir, text, O_PATH | O_NOFOLLOW, 0);
    return back < 0 ? back : same(back, gitfile);
}

/* The repository that DIR/commondir names, if DIR lies right in its worktrees/. */
static int open_common(int git_dir)
{
    char text[POINTER_MAX + 1];
    auto_close int common = -EBADF, worktrees = -EBADF, parent = -EBADF;
    int r;

    r = read_pointer_in(git_dir, "commondir", text);
    if (r < 0)
        return r;
    common = path_open(git_dir, text, O_PATH | O_DIRECTORY, 0);
    if (common < 0)
        return common;
    worktrees = path_open(common, "worktrees", O_PATH | O_DIRECTORY | O_NOFOLLOW, BENEATH);
    if (worktrees < 0)
        return worktrees;
    parent = path_open(git_dir, "..", O_PATH | O_DIRECTORY, 0);
    if (parent < 0)
        return parent;
    r = same(worktrees, parent);
    return r < 0 ? r : steal_fd(&common);
}

static int follow(int workspace, int gitfile, struct open_result *ret)
{
    auto_close int git_dir = -EBADF, common = -EBADF;
    auto_free char *git_dir_path = NULL, *common_path = NULL;
    int r;

    git_dir = open_git_dir(workspace, gitfile);
    if (git_dir < 0)
        return git_dir;
    r = check_back_pointer(git_dir, gitfile);
    if (r < 0)
        return r;
    common = open_common(git_dir);
    if (common < 0)
        return common;
    r = descriptor_path(git_dir, &git_dir_path);
    if (r == 0)
        r = descriptor_path(common, &common_path);
    if (r < 0)
        return r;
    ret->git_dir = steal_fd(&git_dir);
    ret->git_common = steal_fd(&common);
    ret->git_dir_path = steal_ptr(git_dir_path);
    ret->git_common_path = steal_ptr(common_path);
    return 1;
}

int git_worktree_find(int workspace, struct open_result *ret)
{
    auto_close int gitfile = -EBADF;
    struct stat st;
    int r;

    gitfile = path_open(workspace, ".git", O_PATH | O_NOFOLLOW, BENEATH);
    if (gitfile == -ENOENT || gitfile == -ENOTDIR)
        return 0;
    if (gitfile < 0)
        return gitfile;
    if (fstat(gitfile, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return 0;
    r = follow(workspace, gitfile, ret);
    switch (r) {
    case -ENOENT: /* the pointer leads nowhere, or where the requester may not look */
    case -ENOTDIR:
    case -ELOOP:
    case -EACCES:
    case -ENAMETOOLONG:
        return -EXDEV;
    default:
        return r;
    }
}
