#include "program_search.h"

#include "own.h"
#include "path.h"
#include "program_parts.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#define LINKS_MAX 40
#define INTERPRETERS_MAX 4

/* ---- who may change it ---- */

static bool may_write(int fd)
{
    return syscall(SYS_faccessat2, fd, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) == 0;
}

/* The owner may take the right to write; not where the mount is read-only. */
static bool may_take(int fd, const struct stat *st)
{
    if (may_write(fd))
        return true;
    return errno == EACCES && st->st_uid == geteuid();
}

/* In a directory with the sticky bit only the owners of the entry and of the directory rename. */
static bool may_rename(int directory, const struct stat *st, const struct stat *entry)
{
    uid_t uid = geteuid();

    if (!may_take(directory, st))
        return false;
    return !(st->st_mode & S_ISVTX) || st->st_uid == uid || entry->st_uid == uid;
}

/* ---- one name, component by component ---- */

struct walk {
    const struct program_search *search;
    bool interpreter;
    unsigned int links;
    char at[PATH_MAX];   /* real, without a last "/": "" is the root */
    char rest[PATH_MAX]; /* still to go */
};

static int open_here(const char *path)
{
    return path_open(AT_FDCWD, *path ? path : "/", O_PATH | O_NOFOLLOW, PATH_NO_SYMLINKS);
}

static int tell(const struct walk *walk, struct program_step *step)
{
    step->interpreter = walk->interpreter;
    return walk->search->take(walk->search->context, step);
}

/* Cuts the next component off walk.rest.  NULL at the end. */
static const char *next(struct walk *walk, char component[NAME_MAX + 1])
{
    const char *begin = walk->rest + strspn(walk->rest, "/");
    size_t length = strcspn(begin, "/");

    if (length == 0 || length > NAME_MAX)
        return NULL;
    memcpy(component, begin, length);
    component[length] = '\0';
    memmove(walk->rest, begin + length, strlen(begin + length) + 1);
    return component;
}

static int follow(struct walk *walk, int link, const char *child, bool writable)
{
    char target[PATH_MAX], rest[PATH_MAX];
    ssize_t length = readlinkat(link, "", target, sizeof(target) - 1);
    struct program_step step = {.kind = TRAIL_LINK,
        .writable = writable,
        .descriptor = -EBADF,
        .path = child,
        .target = target};
    int r;

    if (length < 0)
        return -errno;
    target[length] = '\0';
    if (++walk->links > LINKS_MAX)
        return -ELOOP;
    r = tell(walk, &step);
    if (r != 0)
        return r;
    if (snprintf(rest, sizeof(rest), "%s/%s", target, walk->rest) >= (int)sizeof(rest))
        return -ENAMETOOLONG;
    (void)strcpy(walk->rest, rest);
    if (target[0] == '/')
        walk->at[0] = '\0';
    return 0;
}

static int enter(struct walk *walk, const char *component)
{
    char child[PATH_MAX];
    auto_close int directory = open_here(walk->at), entry = -EBADF;
    struct program_step step = {
        .kind = TRAIL_DIRECTORY, .descriptor = -EBADF, .path = *walk->at ? walk->at : "/"};
    struct stat above, st;
    int r;

    if (snprintf(child, sizeof(child), "%s/%s", walk->at, component) >= (int)sizeof(child))
        return -ENAMETOOLONG;
    entry = directory < 0 ? directory : open_here(child);
    if (entry < 0)
        return entry;
    if (fstat(directory, &above) < 0 || fstat(entry, &st) < 0)
        return -errno;
    step.writable = may_rename(directory, &above, &st);
    r = tell(walk, &step);
    if (r != 0)
        return r;
    if (S_ISLNK(st.st_mode))
        return follow(walk, entry, child, step.writable);
    if (!S_ISDIR(st.st_mode) && walk->rest[strspn(walk->rest, "/")])
        return -ENOTDIR;
    (void)strcpy(walk->at, child);
    return 0;
}

static void leave(struct walk *walk)
{
    char *slash = strrchr(walk->at, '/');

    if (slash)
        *slash = '\0';
}

/* Goes NAME to its end; walk.at is the real path then. */
static int go(struct walk *walk, const char *name)
{
    char component[NAME_MAX + 1];
    int r = 0;

    if (name[0] != '/' || strlen(name) >= sizeof(walk->rest))
        return name[0] == '/' ? -ENAMETOOLONG : -EINVAL;
    walk->at[0] = '\0';
    (void)strcpy(walk->rest, name);
    while (r == 0 && next(walk, component)) {
        if (text_equal(component, ".."))
            leave(walk);
        else if (!text_equal(component, "."))
            r = enter(walk, component);
    }
    return r;
}

/* ---- the word in the command ---- */

static bool is_program(const char *path, bool executable)
{
    auto_close int fd = path_open(AT_FDCWD, path, O_PATH, 0);
    struct stat st;

    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           (!executable || syscall(SYS_faccessat2, fd, "", X_OK, AT_EMPTY_PATH | AT_EACCESS) == 0);
}

static int in_directory(const struct program_search *search, const char *directory,
    const char *word, bool executable, char out[PATH_MAX])
{
    int n = directory[0] == '/'
                ? snprintf(out, PATH_MAX, "%s/%s", directory, word)
                : snprintf(out, PATH_MAX, "%s/%s/%s", search->directory, directory, word);

    return n > 0 && n < PATH_MAX && is_program(out, executable) ? 0 : -ENOENT;
}

/* As execvp(3) would; a word that stands in no directory of PATH may still be a script that its
 * interpreter is given by a relative name. */
static int find(const struct program_search *search, const char *word, char out[PATH_MAX])
{
    auto_free char *copy = strdup(search->path);
    char *rest = copy, *one;

    if (!copy)
        return -ENOMEM;
    if (word[0] == '/')
        return snprintf(out, PATH_MAX, "%s", word) < PATH_MAX && is_program(out, false) ? 0
                                                                                        : -ENOENT;
    while (!strchr(word, '/') && (one = strsep(&rest, ":"))) {
        if (in_directory(search, *one ? one : ".", word, true, out) == 0)
            return 0;
    }
    return in_directory(search, ".", word, false, out);
}

/* ---- what is found ---- */

static int hand_on(const struct walk *walk, enum trail_kind kind, const char *path)
{
    auto_close int fd = path_open(AT_FDCWD, path, O_PATH, PATH_NO_SYMLINKS);
    struct program_step step = {.kind = kind, .descriptor = fd, .path = path};

    return fd < 0 ? fd : tell(walk, &step);
}

static int tell_file(const struct walk *walk, int fd, const char *name)
{
    struct program_step step = {
        .kind = TRAIL_FILE, .descriptor = fd, .path = walk->at, .target = name};

    if (fstat(fd, &step.st) < 0)
        return -errno;
    if (!S_ISREG(step.st.st_mode))
        return -ENOENT;
    step.writable = may_take(fd, &step.st);
    return tell(walk, &step);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The word before the program that names INTERPRETER: `node x.js` runs that node, not PATH's. */
static const char *given(const struct program_search *search, const char *interpreter)
{
    const char *found = interpreter;

    for (size_t i = 0; search->before[i]; i++) {
        if (text_equal(base_name(search->before[i]), base_name(interpreter)))
            found = search->before[i];
    }
    return found;
}

/* PATH is the program's or an interpreter's: goes there and tells what lies on the way.
 * *RET_INTERPRETER: what its first line wants; "" for none. */
static int explore(
    struct walk *walk, const char *path, enum trail_kind whole, char ret_interpreter[PATH_MAX])
{
    char root[PATH_MAX];
    auto_close int fd = -EBADF;
    int r = go(walk, path);

    if (r != 0)
        return r;
    fd = open_here(walk->at);
    r = fd < 0 ? fd : tell_file(walk, fd, path);
    if (r != 0)
        return r;
    r = program_interpreter(fd, ret_interpreter);
    if (r < 0)
        return r;
    if (whole == TRAIL_PACKAGE)
        program_package(walk->at, walk->search->home, root);
    else
        program_runtime(walk->at, walk->search->home, root);
    return hand_on(walk, whole, root);
}

int program_search(const struct program_search *search)
{
    struct walk walk = {.search = search};
    char path[PATH_MAX], interpreter[PATH_MAX];
    int r = find(search, search->program, path);

    if (r == 0)
        r = explore(&walk, path, TRAIL_PACKAGE, interpreter);
    walk.interpreter = true;
    for (int i = 0; r == 0 && interpreter[0] && i < INTERPRETERS_MAX; i++) {
        r = find(search, i == 0 ? given(search, interpreter) : interpreter, path);
        if (r == 0)
            r = explore(&walk, path, TRAIL_RUNTIME, interpreter);
    }
    return r;
}
