#include "tree.h"

#include "own.h"
#include "path.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#define BENEATH (PATH_BENEATH | PATH_NO_SYMLINKS)
#define ID_MAX 65535
#define WHITEOUT ".wh."
#define OPAQUE ".wh..wh..opq"

int tree_init(struct tree *tree, int root)
{
    int fd = openat(root, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    *tree = (struct tree){.root = root, .parent_fd = -EBADF};
    if (fd < 0)
        return -errno;
    tree->times = fdopen(fd, "w+e");
    if (!tree->times) {
        close(fd);
        return -ENOMEM;
    }
    return 0;
}

void tree_done(struct tree *tree)
{
    close_fd(&tree->parent_fd);
    if (tree->times)
        (void)fclose(tree->times);
    tree->times = NULL;
}

/* ---- names ---- */

int tree_name(const char *name, char ret[PATH_MAX], struct trouble *trouble)
{
    size_t at = 0, depth = 0;

    if (!name || !name[0])
        return trouble_set(trouble, REASON_IMAGE_ENTRY, 0, "an entry without a name");
    if (name[0] == '/')
        return trouble_set(trouble, REASON_IMAGE_ENTRY, 0, "%s: the name is absolute", name);
    while (*name) {
        size_t length = strcspn(name, "/");

        if (length == 2 && name[0] == '.' && name[1] == '.')
            return trouble_set(trouble, REASON_IMAGE_ENTRY, 0, "%s: `..` in the name", name);
        if (length > 0 && !(length == 1 && name[0] == '.')) {
            if (at + length + 2 > PATH_MAX)
                return trouble_set(trouble, REASON_IMAGE_ENTRY, ENAMETOOLONG, "%.200s", name);
            if (++depth > TREE_DEPTH_MAX)
                return trouble_set(trouble, REASON_IMAGE_TOO_BIG, 0, "%.200s...: deeper than %d",
                    name, TREE_DEPTH_MAX);
            if (at > 0)
                ret[at++] = '/';
            memcpy(ret + at, name, length);
            at += length;
        }
        name += length;
        name += strspn(name, "/");
    }
    ret[at] = '\0';
    return 0;
}

static int bad_entry(const struct tree_entry *entry, int error, struct trouble *trouble)
{
    if (error == ENOSPC || error == EDQUOT || error == EIO || error == ENOMEM)
        return trouble_set(trouble, REASON_IMAGE_FAILED, error, "%s", entry->path);
    if (error == ELOOP || error == EXDEV)
        return trouble_set(trouble, REASON_IMAGE_ENTRY, 0,
            "%s: a symbolic link stands on the way to it", entry->path);
    return trouble_set(trouble, REASON_IMAGE_ENTRY, error, "%s", entry->path);
}

int tree_count(struct tree *tree, const char *path, uint64_t size, struct trouble *trouble)
{
    if (size > tree->max_bytes - tree->bytes)
        return trouble_set(trouble, REASON_IMAGE_TOO_BIG, 0, "%s: more than %llu bytes in all",
            path, (unsigned long long)tree->max_bytes);
    tree->bytes += size;
    return 0;
}

static int count_entry(struct tree *tree, const struct tree_entry *entry, struct trouble *trouble)
{
    if (entry->uid > ID_MAX || entry->gid > ID_MAX)
        return trouble_set(trouble, REASON_IMAGE_ENTRY, 0, "%s: owner %llu:%llu; at most %d",
            entry->path, (unsigned long long)entry->uid, (unsigned long long)entry->gid, ID_MAX);
    if (tree->entries == tree->max_entries)
        return trouble_set(trouble, REASON_IMAGE_TOO_BIG, 0, "%s: more than %llu entries in all",
            entry->path, (unsigned long long)tree->max_entries);
    tree->entries++;
    return 0;
}

/* ---- ways ---- */

/* Opens the directory PATH; what of it is missing is made, root's. */
static int open_directory(struct tree *tree, const char *path)
{
    auto_close int at = -EBADF;
    auto_free char *copy = NULL;
    char *rest, *slash;
    int fd;

    fd = path_open(tree->root, path[0] ? path : ".", O_PATH | O_DIRECTORY, BENEATH);
    if (fd != -ENOENT)
        return fd;
    copy = rest = strdup(path);
    at = copy ? path_open(tree->root, ".", O_PATH | O_DIRECTORY, BENEATH) : -ENOMEM;
    for (; at >= 0 && rest; rest = slash ? slash + 1 : NULL) {
        slash = strchr(rest, '/');
        if (slash)
            *slash = '\0';
        if (mkdirat(at, rest, 0755) < 0 && errno != EEXIST)
            return -errno;
        fd = path_open(at, rest, O_PATH | O_DIRECTORY, BENEATH);
        close_fd(&at);
        at = fd;
    }
    return steal_fd(&at);
}

/* The directory that PATH is in, not the caller's to close, and its name there. */
static int find_parent(struct tree *tree, const char *path, const struct tree_entry *entry,
    int *ret_fd, const char **ret_name, struct trouble *trouble)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;

    *ret_name = slash ? slash + 1 : path;
    if (tree->parent_fd < 0 || strlen(tree->parent) != length ||
        strncmp(tree->parent, path, length) != 0) {
        close_fd(&tree->parent_fd);
        memcpy(tree->parent, path, length);
        tree->parent[length] = '\0';
        tree->parent_fd = open_directory(tree, tree->parent);
    }
    if (tree->parent_fd < 0)
        return bad_entry(entry, -tree->parent_fd, trouble);
    *ret_fd = tree->parent_fd;
    return 0;
}

/* What of the same layer stood at NAME goes; a directory does not. */
static int replace(int parent, const char *name)
{
    return unlinkat(parent, name, 0) < 0 ? -errno : 0;
}

static int set_owner(int parent, const char *name, const struct tree_entry *entry)
{
    const struct timespec times[2] = {entry->mtime, entry->mtime};

    if (fchownat(parent, name, (uid_t)entry->uid, (gid_t)entry->gid, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (!S_ISLNK(entry->mode) && fchmodat(parent, name, entry->mode & 07777, 0) < 0)
        return -errno;
    return utimensat(parent, name, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

/* ---- what is made ---- */

static int remember_time(struct tree *tree, const char *path, const struct timespec *mtime)
{
    return fprintf(tree->times, "%lld %ld %s%c", (long long)mtime->tv_sec, mtime->tv_nsec, path,
               '\0') < 0
               ? -EIO
               : 0;
}

static bool is_directory(int parent, const char *name)
{
    struct stat st;

    return fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

int tree_directory(
    struct tree *tree, const char *path, const struct tree_entry *entry, struct trouble *trouble)
{
    const char *name;
    int parent, r = count_entry(tree, entry, trouble);

    if (r != 0 || !path[0]) /* the root's own attributes are the leg's */
        return r;
    r = find_parent(tree, path, entry, &parent, &name, trouble);
    if (r != 0)
        return r;
    r = mkdirat(parent, name, 0700) < 0 ? -errno : 0;
    if (r == -EEXIST && !is_directory(parent, name)) {
        r = replace(parent, name);
        if (r == 0 && mkdirat(parent, name, 0700) < 0)
            r = -errno;
    } else if (r == -EEXIST) {
        r = 0;
    }
    if (r == 0)
        r = set_owner(parent, name, entry);
    if (r == 0)
        r = remember_time(tree, path, &entry->mtime);
    return r < 0 ? bad_entry(entry, -r, trouble) : 0;
}

int tree_file(struct tree *tree, const char *path, const struct tree_entry *entry, int *ret_fd,
    struct trouble *trouble)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const char *name;
    int parent, fd, r = count_entry(tree, entry, trouble);

    if (r == 0)
        r = find_parent(tree, path, entry, &parent, &name, trouble);
    if (r != 0)
        return r;
    fd = openat(parent, name, flags, 0600);
    if (fd < 0 && errno == EEXIST && replace(parent, name) == 0)
        fd = openat(parent, name, flags, 0600);
    if (fd < 0)
        return bad_entry(entry, errno, trouble);
    *ret_fd = fd;
    return 0;
}

int tree_file_done_take(
    struct tree *tree, int fd, const struct tree_entry *entry, struct trouble *trouble)
{
    const struct timespec times[2] = {entry->mtime, entry->mtime};
    int error = 0;

    if (fchown(fd, (uid_t)entry->uid, (gid_t)entry->gid) < 0 ||
        fchmod(fd, entry->mode & 07777) < 0 || futimens(fd, times) < 0)
        error = errno;
    if (close(fd) < 0 && !error)
        error = errno;
    return error ? bad_entry(entry, error, trouble) : 0;
}

int tree_link(struct tree *tree, const char *path, const struct tree_entry *entry,
    const char *target, struct trouble *trouble)
{
    const char *name;
    int parent, r = count_entry(tree, entry, trouble);

    if (r == 0)
        r = find_parent(tree, path, entry, &parent, &name, trouble);
    if (r != 0)
        return r;
    r = symlinkat(target, parent, name) < 0 ? -errno : 0;
    if (r == -EEXIST) {
        r = replace(parent, name);
        if (r == 0 && symlinkat(target, parent, name) < 0)
            r = -errno;
    }
    if (r == 0)
        r = set_owner(parent, name, entry);
    return r < 0 ? bad_entry(entry, -r, trouble) : 0;
}

/* A hard link to what this layer does not hold would be one to what lies beneath it, or outside. */
int tree_hard_link(struct tree *tree, const char *path, const struct tree_entry *entry,
    const char *target, struct trouble *trouble)
{
    auto_close int from = -EBADF;
    char clean[PATH_MAX];
    const char *name, *slash;
    struct stat st;
    int parent, r = tree_name(target, clean, trouble);

    if (r != 0)
        return trouble_set(trouble, REASON_IMAGE_ENTRY, 0,
            "%s: a hard link to %s, out of its layer", entry->path, target);
    r = count_entry(tree, entry, trouble);
    if (r == 0)
        r = find_parent(tree, path, entry, &parent, &name, trouble);
    if (r != 0)
        return r;
    slash = strrchr(clean, '/');
    if (slash)
        clean[slash - clean] = '\0';
    from = path_open(tree->root, slash ? clean : ".", O_PATH | O_DIRECTORY, BENEATH);
    if (from < 0 || fstatat(from, slash ? slash + 1 : clean, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        S_ISDIR(st.st_mode) || S_ISCHR(st.st_mode))
        return trouble_set(trouble, REASON_IMAGE_ENTRY, 0,
            "%s: a hard link to %s, which is no file of the same layer", entry->path, target);
    r = linkat(from, slash ? slash + 1 : clean, parent, name, 0) < 0 ? -errno : 0;
    if (r == -EEXIST && !is_directory(parent, name)) {
        struct stat there;

        if (fstatat(parent, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && there.st_ino == st.st_ino)
            return 0;
        r = replace(parent, name);
        if (r == 0 && linkat(from, slash ? slash + 1 : clean, parent, name, 0) < 0)
            r = -errno;
    }
    return r < 0 ? bad_entry(entry, -r, trouble) : 0;
}

int tree_fifo(
    struct tree *tree, const char *path, const struct tree_entry *entry, struct trouble *trouble)
{
    const char *name;
    int parent, r = count_entry(tree, entry, trouble);

    if (r == 0)
        r = find_parent(tree, path, entry, &parent, &name, trouble);
    if (r != 0)
        return r;
    if (mknodat(parent, name, S_IFIFO | 0600, 0) < 0)
        return bad_entry(entry, errno, trouble);
    r = set_owner(parent, name, entry);
    return r < 0 ? bad_entry(entry, -r, trouble) : 0;
}

/* ---- what is taken away ---- */

static const char *last_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool tree_is_whiteout(const char *path)
{
    return text_starts_with(last_of(path), WHITEOUT);
}

/* Overlayfs's own signs: a character device 0/0 in the place of a name, an attribute on a directory
 * that hides all that layers below have in it.  The same layer's files stay, whichever came first.
 */
int tree_whiteout(
    struct tree *tree, const char *path, const struct tree_entry *entry, struct trouble *trouble)
{
    auto_close int directory = -EBADF;
    const char *name;
    int parent, r = count_entry(tree, entry, trouble);

    if (r == 0)
        r = find_parent(tree, path, entry, &parent, &name, trouble);
    if (r != 0)
        return r;
    if (text_equal(name, OPAQUE)) {
        directory = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (directory < 0 || fsetxattr(directory, "user.overlay.opaque", "y", 1, 0) < 0)
            return bad_entry(entry, errno, trouble);
        return 0;
    }
    name += strlen(WHITEOUT);
    if (!name[0] || text_equal(name, ".") || text_equal(name, "..") ||
        text_starts_with(name, WHITEOUT))
        return trouble_set(
            trouble, REASON_IMAGE_ENTRY, 0, "%s: a whiteout of an unknown form", entry->path);
    if (mknodat(parent, name, S_IFCHR, makedev(0, 0)) < 0 && errno != EEXIST)
        return bad_entry(entry, errno, trouble);
    return 0;
}

/* ---- the end ---- */

static int set_time(struct tree *tree, const char *line)
{
    struct timespec times[2];
    char *end;
    auto_close int fd = -EBADF;

    times[1].tv_sec = strtoll(line, &end, 10);
    times[1].tv_nsec = strtol(end, &end, 10);
    times[0] = times[1];
    if (*end != ' ')
        return -EIO;
    fd = path_open(tree->root, end + 1, O_RDONLY | O_DIRECTORY, BENEATH);
    if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
        return 0; /* a later entry took its place */
    if (fd < 0)
        return fd;
    return futimens(fd, times) < 0 ? -errno : 0;
}

int tree_finish(struct tree *tree, struct trouble *trouble)
{
    auto_free char *line = NULL;
    size_t size = 0;
    int r = 0;

    close_fd(&tree->parent_fd);
    if (fflush(tree->times) != 0 || fseek(tree->times, 0, SEEK_SET) != 0)
        r = -EIO;
    while (r == 0 && getdelim(&line, &size, '\0', tree->times) > 0)
        r = set_time(tree, line);
    return r < 0 ? trouble_set(trouble, REASON_IMAGE_FAILED, -r, "times of directories") : 0;
}
