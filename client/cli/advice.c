#include "advice.h"

#include "matrix_cells.h"
#include "own.h"
#include "say.h"
#include "text.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* What the minimal view holds in any case. */
static const char *const always_seen[] = {"/usr", "/etc", "/opt"};

static bool seen(const char *path)
{
    for (size_t i = 0; i < array_size(always_seen); i++) {
        if (text_path_beneath(path, always_seen[i]))
            return true;
    }
    return false;
}

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Walks our own PATH, as a shell would. */
static char *find_on_path(const char *program)
{
    const char *at = getenv("PATH");

    while (at && *at) {
        size_t length = strcspn(at, ":");
        auto_free char *path = text_format("%.*s/%s", (int)length, at, program);

        if (path && length > 0 && is_program(path))
            return steal_ptr(path);
        at += length + (at[length] == ':');
    }
    return NULL;
}

static char *find(const char *program, const char *directory)
{
    auto_free char *path = NULL;

    if (!strchr(program, '/'))
        return find_on_path(program);
    path = program[0] == '/' ? strdup(program)
                             : text_format("%s/%s", directory ? directory : "", program);
    return path && is_program(path) ? steal_ptr(path) : NULL;
}

/* The real directory of PATH; PATH may be changed. */
static char *directory_of(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash)
        return NULL;
    *slash = '\0';
    return realpath(path[0] ? path : "/", NULL);
}

char *advice_for_program(const char *program, const char *directory)
{
    auto_free char *path = find(program, directory), *name = NULL, *lies = NULL, *real = NULL,
                   *real_lies = NULL, *also = NULL;

    if (!path)
        return NULL;
    name = strdup(strrchr(path, '/') + 1);
    real = realpath(path, NULL);
    lies = directory_of(path);
    real_lies = real ? directory_of(real) : NULL;
    if (!name || !lies || !real_lies)
        return NULL;
    /* Where the name is a link, what it points to must be seen too. */
    also = seen(real_lies) || text_path_beneath(real_lies, lies)
               ? strdup("")
               : text_format(" --read %s", escaped(real_lies));
    if (!also)
        return NULL;
    if (seen(lies) && !also[0])
        return text_format("the host has it as %s/%s: name it so", escaped(lies), escaped(name));
    return text_format("to show it: saphan run%s%s%s ... -- %s/%s", seen(lies) ? "" : " --read ",
        seen(lies) ? "" : escaped(lies), also, escaped(lies), escaped(name));
}

static bool is_printable(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e)
            return false;
    }
    return true;
}

/* What measuring does not go with, or has a meaning of its own for. */
static bool is_left_out(const char *word)
{
    static const char *const words[] = {"--detach", "--keep-output", "--json"};

    for (size_t i = 0; i < array_size(words); i++) {
        if (strcmp(word, words[i]) == 0)
            return true;
    }
    return false;
}

char *advice_for_measuring(int argc, char *const *argv)
{
    auto_free const char **words = calloc((size_t)argc + 3, sizeof(*words));
    auto_free char *line = NULL;
    bool behind = false;
    size_t count = 3;

    if (!words)
        return NULL;
    words[0] = "saphan";
    words[1] = "matrix";
    words[2] = "measure";
    for (int i = 0; i < argc; i++) {
        behind = behind || strcmp(argv[i], "--") == 0;
        if (behind || !is_left_out(argv[i]))
            words[count++] = argv[i];
    }
    line = matrix_quote(words, count);
    return line && is_printable(line) ? text_format("to measure it: %s", line) : NULL;
}
