#include "copy.h"

#include "own.h"
#include "path.h"
#include "text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER (256 * 1024)
#define NAMES_MAX 100000 /* of one directory */

/* Files with more than one name, by where they are. */
struct known_file {
    uint64_t dev, ino;
    char *path;
};

struct copying {
    struct tree *tree;
    struct trouble *trouble;
    struct sha256_ctx digest;
    char path[PATH_MAX];
    struct known_file *known;
    size_t n_known, room;
    char *buffer;
};

static int no_memory(struct copying *copying)
{
    return trouble_set(copying->trouble, REASON_IMAGE_FAILED, ENOMEM, "memory");
}

/* What cannot be read is not taken: the source is read with the rights of who passed it. */
static int unreadable(struct copying *copying, int error)
{
    return trouble_set(copying->trouble, REASON_IMAGE_SOURCE, error, "%s", copying->path);
}

static void digest_entry(
    struct copying *copying, const struct tree_entry *entry, uint64_t size, const char *target)
{
    char line[128];
    int n = snprintf(line, sizeof(line), "%o %llu %llu %lld %llu ", entry->mode,
        (unsigned long long)entry->uid, (unsigned long long)entry->gid,
        (long long)entry->mtime.tv_sec, (unsigned long long)size);

    sha256_update(&copying->digest, (size_t)n, (const uint8_t *)line);
    sha256_update(&copying->digest, strlen(copying->path) + 1, (const uint8_t *)copying->path);
    if (target)
        sha256_update(&copying->digest, strlen(target) + 1, (const uint8_t *)target);
}

/* ---- files ---- */

static const char *known_as(const struct copying *copying, const struct stat *st)
{
    for (size_t i = 0; i < copying->n_known; i++) {
        if (copying->known[i].ino == st->st_ino && copying->known[i].dev == st->st_dev)
            return copying->known[i].path;
    }
    return NULL;
}

static int remember(struct copying *copying, const struct stat *st)
{
    if (copying->n_known == copying->room) {
        size_t room = copying->room ? copying->room * 2 : 64;
        struct known_file *more = reallocarray(copying->known, room, sizeof(*more));

        if (!more)
            return no_memory(copying);
        copying->known = more;
        copying->room = room;
    }
    copying->known[copying->n_known] =
        (struct known_file){.dev = st->st_dev, .ino = st->st_ino, .path = strdup(copying->path)};
    return copying->known[copying->n_known++].path ? 0 : no_memory(copying);
}

static int write_all(struct copying *copying, int fd, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = write(fd, copying->buffer + at, size - at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return trouble_set(copying->trouble, REASON_IMAGE_FAILED, errno, "%s", copying->path);
        at += (size_t)n;
    }
    return 0;
}

/* A file that grows meanwhile is still bounded. */
static int copy_content(struct copying *copying, int from, int to, uint64_t counted)
{
    uint64_t size = 0;

    for (;;) {
        ssize_t n = read(from, copying->buffer, BUFFER);
        int r;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return unreadable(copying, errno);
        if (n == 0)
            return 0;
        size += (uint64_t)n;
        if (size > counted) {
            r = tree_count(copying->tree, copying->path, size - counted, copying->trouble);
            if (r != 0)
                return r;
            counted = size;
        }
        sha256_update(&copying->digest, (size_t)n, (const uint8_t *)copying->buffer);
        r = write_all(copying, to, (size_t)n);
        if (r != 0)
            return r;
    }
}

static int copy_file(struct copying *copying, int directory, const char *name,
    const struct tree_entry *entry, const struct stat *st)
{
    const char *first = st->st_nlink > 1 ? known_as(copying, st) : NULL;
    auto_close int from = -EBADF;
    int to, r;

    digest_entry(copying, entry, (uint64_t)st->st_size, first);
    if (first)
        return tree_hard_link(copying->tree, copying->path, entry, first, copying->trouble);
    r = st->st_nlink > 1 ? remember(copying, st) : 0;
    if (r != 0)
        return r;
    from = path_open(
        directory, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, PATH_BENEATH | PATH_NO_SYMLINKS);
    if (from < 0)
        return unreadable(copying, -from);
    r = tree_count(copying->tree, copying->path, (uint64_t)st->st_size, copying->trouble);
    if (r == 0)
        r = tree_file(copying->tree, copying->path, entry, &to, copying->trouble);
    if (r != 0)
        return r;
    r = copy_content(copying, from, to, (uint64_t)st->st_size);
    if (r != 0) {
        close(to);
        return r;
    }
    return tree_file_done_take(copying->tree, to, entry, copying->trouble);
}

static int copy_link(
    struct copying *copying, int directory, const char *name, const struct tree_entry *entry)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(directory, name, target, sizeof(target) - 1);

    if (n < 0)
        return unreadable(copying, errno);
    target[n] = '\0';
    digest_entry(copying, entry, 0, target);
    return tree_link(copying->tree, copying->path, entry, target, copying->trouble);
}

/* ---- directories ---- */

static int copy_directory(struct copying *copying, int fd, unsigned int depth);

static int enter(struct copying *copying, int directory, const char *name,
    const struct tree_entry *entry, unsigned int depth)
{
    auto_close int fd = -EBADF;
    int r;

    digest_entry(copying, entry, 0, NULL);
    r = tree_directory(copying->tree, copying->path, entry, copying->trouble);
    if (r != 0)
        return r;
    fd = path_open(
        directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, PATH_BENEATH | PATH_NO_SYMLINKS);
    return fd < 0 ? unreadable(copying, -fd) : copy_directory(copying, fd, depth + 1);
}

static int take_kind(struct copying *copying, int directory, const char *name,
    const struct stat *st, unsigned int depth)
{
    const struct tree_entry entry = {.path = copying->path,
        .mode = st->st_mode,
        .uid = st->st_uid,
        .gid = st->st_gid,
        .mtime = st->st_mtim};

    switch (st->st_mode & S_IFMT) {
    case S_IFREG:
        return copy_file(copying, directory, name, &entry, st);
    case S_IFDIR:
        return enter(copying, directory, name, &entry, depth);
    case S_IFLNK:
        return copy_link(copying, directory, name, &entry);
    case S_IFIFO:
        digest_entry(copying, &entry, 0, NULL);
        return tree_fifo(copying->tree, copying->path, &entry, copying->trouble);
    case S_IFSOCK:
        return 0;
    default:
        if (text_starts_with(copying->path, "dev/"))
            return 0;
        return trouble_set(copying->trouble, REASON_IMAGE_ENTRY, 0, "%s: a device", copying->path);
    }
}

static int copy_name(struct copying *copying, int directory, const char *name, unsigned int depth)
{
    size_t length = strlen(copying->path);
    struct stat st;
    int n, r;

    n = snprintf(
        copying->path + length, sizeof(copying->path) - length, "%s%s", length ? "/" : "", name);
    if (n < 0 || (size_t)n >= sizeof(copying->path) - length)
        r = unreadable(copying, ENAMETOOLONG);
    else if (text_starts_with(name, ".wh."))
        r = trouble_set(copying->trouble, REASON_IMAGE_ENTRY, 0, "%s: a name that takes files away",
            copying->path);
    else if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        r = unreadable(copying, errno);
    else
        r = take_kind(copying, directory, name, &st, depth);
    copying->path[length] = '\0';
    return r;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_names(struct copying *copying, DIR *directory, char ***ret_names, size_t *ret_count)
{
    size_t count = 0, room = 0;
    char **names = NULL;
    struct dirent *entry;

    *ret_names = NULL;
    *ret_count = 0;
    while ((entry = readdir(directory))) {
        if (text_equal(entry->d_name, ".") || text_equal(entry->d_name, ".."))
            continue;
        if (count == NAMES_MAX)
            return trouble_set(copying->trouble, REASON_IMAGE_TOO_BIG, 0,
                "%s: more than %d names in one directory", copying->path, NAMES_MAX);
        if (count == room) {
            char **more = reallocarray(names, room ? room * 2 : 64, sizeof(*names));

            if (!more)
                return no_memory(copying);
            names = more;
            room = room ? room * 2 : 64;
            *ret_names = names;
        }
        names[count] = strdup(entry->d_name);
        if (!names[count])
            return no_memory(copying);
        *ret_count = ++count;
    }
    if (count > 0)
        qsort(names, count, sizeof(*names), by_name);
    return 0;
}

static int copy_directory(struct copying *copying, int fd, unsigned int depth)
{
    int again = dup(fd), r;
    DIR *directory = again < 0 ? NULL : fdopendir(again);
    size_t count = 0;
    char **names = NULL;

    if (!directory) {
        close_fd(&again);
        return unreadable(copying, errno);
    }
    r = depth > TREE_DEPTH_MAX ? trouble_set(copying->trouble, REASON_IMAGE_TOO_BIG, 0,
                                     "%s: deeper than %d", copying->path, TREE_DEPTH_MAX)
                               : read_names(copying, directory, &names, &count);
    (void)closedir(directory);
    for (size_t i = 0; i < count; i++) {
        if (r == 0)
            r = copy_name(copying, fd, names[i], depth);
        free(names[i]);
    }
    free(names);
    return r;
}

int copy_tree(int from, struct tree *tree, uint8_t ret_digest[32], struct trouble *trouble)
{
    struct copying *copying = calloc(1, sizeof(*copying));
    auto_free char *buffer = malloc(BUFFER);
    auto_close int root = -EBADF;
    int r;

    if (!copying || !buffer) {
        free(copying);
        return trouble_set(trouble, REASON_IMAGE_FAILED, ENOMEM, "memory");
    }
    *copying = (struct copying){.tree = tree, .trouble = trouble, .buffer = buffer};
    sha256_init(&copying->digest);
    root = path_open(from, ".", O_RDONLY | O_DIRECTORY, PATH_BENEATH);
    r = root < 0 ? trouble_set(trouble, REASON_IMAGE_SOURCE, -root, "/")
                 : copy_directory(copying, root, 0);
    if (r == 0)
        r = tree_finish(tree, trouble);
    sha256_digest(&copying->digest, SHA256_DIGEST_SIZE, ret_digest);
    for (size_t i = 0; i < copying->n_known; i++)
        free(copying->known[i].path);
    free(copying->known);
    free(copying);
    return r;
}
