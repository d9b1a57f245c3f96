#include "advice.h"

#include "descriptor.h"
#include "matrix_cells.h"
#include "own.h"
#include "say.h"
#include "text.h"
#include <fcntl.h>
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

/* The interpreter that the first line of the script at PATH names; NULL: it is none.  To be freed.
 */
static char *interpreter_of(const char *path)
{
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char line[PATH_MAX] = "";
    ssize_t n = fd >= 0 ? read(fd, line, sizeof(line) - 1) : -1;
    char *at = line + 2;

    if (n < 2 || line[0] != '#' || line[1] != '!')
        return NULL;
    at += strspn(at, " \t");
    at[strcspn(at, " \t\r\n")] = '\0';
    return at[0] == '/' ? strdup(at) : NULL;
}

static bool granted(const struct saphan_run *run, const char *path)
{
    for (size_t i = 0; i < run->n_grants; i++) {
        auto_free char *grant = run->grants[i].path ? realpath(run->grants[i].path, NULL) : NULL;

        if (grant && text_path_beneath(path, grant))
            return true;
    }
    return false;
}

/* The --read options that show a program: where it lies by name, and where its links lead. */
struct showing {
    const struct saphan_run *run;
    char *directories[4];
    size_t n_directories;
};

static void showing_done(struct showing *showing)
{
    for (size_t i = 0; i < showing->n_directories; i++)
        free(showing->directories[i]);
}

/* PATH may be changed. */
static void show_directory(struct showing *showing, char *path)
{
    auto_free char *directory = path ? directory_of(path) : NULL;

    if (!directory || seen(directory) || granted(showing->run, directory))
        return;
    for (size_t i = 0; i < showing->n_directories; i++) {
        if (text_path_beneath(directory, showing->directories[i]))
            return;
    }
    showing->directories[showing->n_directories++] = steal_ptr(directory);
}

static void show_file(struct showing *showing, const char *path)
{
    auto_free char *name = strdup(path), *real = realpath(path, NULL);

    show_directory(showing, name);
    show_directory(showing, real);
}

static char *options_of(const struct showing *showing)
{
    char *options = strdup("");

    for (size_t i = 0; i < showing->n_directories && options; i++) {
        char *longer = text_format("%s --read %s", options, escaped(showing->directories[i]));

        free(options);
        options = longer;
    }
    return options;
}

char *advice_for_program(const struct saphan_run *run, const char *directory)
{
    __attribute__((cleanup(showing_done))) struct showing showing = {.run = run};
    auto_free char *path = find(run->argv[0], directory), *interpreter = NULL, *lies = NULL,
                   *options = NULL, *copy = NULL;
    const char *name;

    if (!path)
        return NULL;
    interpreter = interpreter_of(path);
    if (interpreter && !is_program(interpreter))
        return text_format("%s names the interpreter %s, which this host does not have",
            escaped(path), escaped(interpreter));
    show_file(&showing, path);
    if (interpreter)
        show_file(&showing, interpreter);
    options = options_of(&showing);
    copy = strdup(path);
    lies = copy ? directory_of(copy) : NULL;
    if (!options || !lies)
        return NULL;
    name = strrchr(path, '/') + 1;
    if (!options[0])
        return text_format("the host has it as %s/%s: name it so", escaped(lies), escaped(name));
    return text_format(
        "to show it: saphan run%s ... -- %s/%s", options, escaped(lies), escaped(name));
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
