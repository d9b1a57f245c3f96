#include "program_parts.h"

#include "own.h"
#include "path.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 512 /* as much as execve(2) itself reads, and some */

static bool too_wide(const char *directory, const char *home)
{
    return !directory[0] || !strchr(directory + 1, '/') ||
           (home && text_path_beneath(home, directory));
}

static bool holds(const char *directory, const char *name)
{
    char path[PATH_MAX];
    auto_close int fd = -EBADF;

    if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
        return false;
    fd = path_open(AT_FDCWD, path, O_PATH, 0);
    return fd >= 0;
}

/* The first of REAL's components that is called NAME ends OUT. */
static bool up_to(const char *real, const char *name, char out[PATH_MAX])
{
    size_t length = strlen(name);

    for (const char *at = strchr(real, '/'); at; at = strchr(at + 1, '/')) {
        if (strncmp(at + 1, name, length) != 0 || at[1 + length] != '/')
            continue;
        (void)snprintf(out, PATH_MAX, "%.*s", (int)(at + 1 + length - real), real);
        return true;
    }
    return false;
}

static bool modules_of(const char *real, const char *home, char out[PATH_MAX])
{
    return (up_to(real, ".pnpm", out) || up_to(real, "node_modules", out)) && !too_wide(out, home);
}

static bool cut_last(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash)
        *slash = '\0';
    return slash != NULL;
}

void program_package(const char *real, const char *home, char out[PATH_MAX])
{
    if (modules_of(real, home, out))
        return;
    (void)snprintf(out, PATH_MAX, "%s", real);
    while (cut_last(out) && !too_wide(out, home)) {
        if (holds(out, "package.json"))
            return;
    }
    (void)snprintf(out, PATH_MAX, "%s", real);
}

void program_runtime(const char *real, const char *home, char out[PATH_MAX])
{
    if (modules_of(real, home, out))
        return;
    (void)snprintf(out, PATH_MAX, "%s", real);
    if (cut_last(out) && text_equal(strrchr(out, '/'), "/bin") && cut_last(out) &&
        !too_wide(out, home) && (holds(out, "lib/node_modules") || holds(out, "include/node")))
        return;
    (void)snprintf(out, PATH_MAX, "%s", real);
}

/* env [-S] [-x] [NAME=VALUE] WORD: the word.  NULL: none. */
static char *word_of_env(char *rest)
{
    char *word;

    while ((word = strsep(&rest, " \t"))) {
        if (*word && *word != '-' && !strchr(word, '='))
            return word;
    }
    return NULL;
}

int program_interpreter(int found, char ret[PATH_MAX])
{
    auto_close int fd = path_reopen(found, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    char line[LINE_MAX_BYTES + 1], *at, *word, *slash;
    ssize_t n;

    ret[0] = '\0';
    if (fd < 0)
        return fd == -EACCES ? 0 : fd;
    n = pread(fd, line, LINE_MAX_BYTES, 0);
    if (n < 0)
        return -errno;
    line[n] = '\0';
    if (!text_starts_with(line, "#!"))
        return 0;
    line[strcspn(line, "\r\n")] = '\0';
    at = line + 2 + strspn(line + 2, " \t");
    word = strsep(&at, " \t");
    slash = strrchr(word, '/');
    if (at && text_equal(slash ? slash + 1 : word, "env"))
        word = word_of_env(at);
    (void)snprintf(ret, PATH_MAX, "%s", word ? word : "");
    return 0;
}
