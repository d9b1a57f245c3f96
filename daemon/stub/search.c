#include "birth.h"

#include "text.h"
#include <errno.h>
#include <limits.h>
#include <string.h>

static const char *path_of(char *const *env)
{
    for (; *env; env++) {
        if (text_starts_with(*env, "PATH="))
            return *env + strlen("PATH=");
    }
    return "";
}

static int try(const char *directory, size_t length, char *const *argv, char *const *env)
{
    char file[PATH_MAX];
    size_t name = strlen(argv[0]);

    if (length == 0) { /* an empty entry is the directory we are in */
        directory = ".";
        length = 1;
    }
    if (length + 1 + name >= sizeof(file))
        return -ENAMETOOLONG;
    memcpy(file, directory, length);
    file[length] = '/';
    memcpy(file + length + 1, argv[0], name + 1);
    (void)execve(file, argv, env);
    return -errno;
}

int program_execute(char *const *argv, char *const *env)
{
    const char *at = path_of(env);
    int found = -ENOENT;

    if (argv[0][0] == '\0')
        return -ENOENT;
    if (strchr(argv[0], '/')) {
        (void)execve(argv[0], argv, env);
        return -errno;
    }
    for (;;) {
        size_t length = strcspn(at, ":");
        int r = try(at, length, argv, env);

        if (r == -EACCES)
            found = r; /* another directory may hold one that can be executed */
        else if (r != -ENOENT && r != -ENOTDIR && r != -ENAMETOOLONG)
            return r;
        if (at[length] == '\0')
            return found;
        at += length + 1;
    }
}
