#include "open.h"

#include "git_worktree.h"
#include "own.h"
#include "path.h"
#include <errno.h>
#include <fcntl.h>

void open_path(const char *path, bool follow_git, struct open_result *ret)
{
    struct open_result result = {.descriptor = -EINVAL, .git_dir = -EBADF, .git_common = -EBADF};

    if (path[0] == '/')
        result.descriptor = path_open(AT_FDCWD, path, O_PATH, 0);
    if (result.descriptor >= 0 && follow_git)
        result.git = git_worktree_find(result.descriptor, &result);
    *ret = result;
}

void open_result_done(struct open_result *result)
{
    close_fd(&result->descriptor);
    close_fd(&result->git_dir);
    close_fd(&result->git_common);
    free(result->git_dir_path);
    free(result->git_common_path);
    result->git_dir_path = NULL;
    result->git_common_path = NULL;
}
