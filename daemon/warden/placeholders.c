#include "placeholders.h"

#include "log.h"
#include "path.h"
#include "placeholder_mark.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

struct intent {
    TAILQ_ENTRY(intent) entry;
    uint64_t leg;
    uint64_t dev, ino;
    char *path; /* relative to the grant */
};

static bool holds_a_place(enum carve_out_kind kind)
{
    return kind != CARVE_OUT_IF_PRESENT;
}

bool placeholders_may_be_made(const struct leg *leg)
{
    for (uint32_t i = 0; i < leg->decision.n_carve_outs; i++) {
        if (holds_a_place(leg->decision.carve_outs[i].kind))
            return true;
    }
    return false;
}

void placeholders_intend(struct leg *leg)
{
    for (uint32_t i = 0; i < leg->decision.n_carve_outs; i++) {
        const struct carve_out *carve_out = &leg->decision.carve_outs[i];
        struct intent *intent;

        if (!holds_a_place(carve_out->kind))
            continue;
        intent = calloc(1, sizeof(*intent));
        if (!intent)
            continue;
        intent->leg = leg->id;
        intent->dev = leg->grant_dev[carve_out->grant];
        intent->ino = leg->grant_ino[carve_out->grant];
        intent->path = strdup(carve_out->path);
        TAILQ_INSERT_TAIL(&leg->warden->intents, intent, entry);
    }
}

/* ---- removing one ---- */

/* The directory that holds PATH's last component, without following anything. */
static int open_parent(int directory, const char *path, int *ret_parent, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    auto_free char *parent = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    int fd;

    if (!parent)
        return -ENOMEM;
    fd = path_open(
        directory, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC, PATH_BENEATH | PATH_NO_SYMLINKS);
    if (fd < 0)
        return fd;
    *ret_parent = fd;
    *ret_name = slash ? slash + 1 : path;
    return 0;
}

/* Only what bears our mark is ever removed, and only while it is as we made it: a directory is
 * empty (rmdir sees to it), a file holds what was put there. */
static int check_mark(int parent, const char *name, int *ret_flags)
{
    auto_close int fd = -EBADF;
    struct stat st, above;
    char mark[64], text[8];
    ssize_t n;

    if (fstat(parent, &above) < 0 || fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return -ENOENT;
    fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return -errno;
    if (fgetxattr(fd, PLACEHOLDER_MARK, mark, sizeof(mark)) < 0 &&
        ((st.st_uid != 0 && st.st_uid != above.st_uid) ||
            (st.st_mode & 07777) != PLACEHOLDER_UNFINISHED))
        return -ENOENT; /* not ours */
    *ret_flags = S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0;
    if (S_ISDIR(st.st_mode))
        return 0;
    n = read(fd, text, sizeof(text));
    if (n == 0 || (n == 2 && memcmp(text, PLACEHOLDER_HERE, 2) == 0))
        return 0;
    return -ENOTEMPTY;
}

static int remove_at(int directory, const char *path)
{
    auto_close int parent = -EBADF;
    const char *name;
    struct stat before;
    int flags = 0, r;

    r = open_parent(directory, path, &parent, &name);
    if (r == 0)
        r = check_mark(parent, name, &flags);
    if (r < 0)
        return r;
    if (fstat(parent, &before) < 0)
        return -errno;
    if (unlinkat(parent, name, flags) < 0)
        return -errno;
    /* The name came and went: to whoever looks, the directory was not changed. */
    (void)futimens(parent, (struct timespec[]){before.st_atim, before.st_mtim});
    return 0;
}

/* ---- the intents of legs that run ---- */

/* Is PATH, or something beneath it, the intent of another leg on the same directory? */
static bool intended_by_another(
    const struct warden *warden, const struct intent *mine, const char *path)
{
    const struct intent *intent;
    size_t length = strlen(path);

    TAILQ_FOREACH(intent, &warden->intents, entry)
    {
        if (intent->leg != mine->leg && intent->dev == mine->dev && intent->ino == mine->ino &&
            intent->path && strncmp(intent->path, path, length) == 0 &&
            (intent->path[length] == '\0' || intent->path[length] == '/'))
            return true;
    }
    return false;
}

/* "a/b/c" becomes "a/b"; false for "a". */
static bool cut_last(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash)
        *slash = '\0';
    return slash != NULL;
}

/* A placeholder for "a/b" is a directory "a" where there was no "a": so what leads there is looked
 * at too. */
static int release_one(const struct warden *warden, const struct intent *intent, int grant)
{
    auto_free char *path = strdup(intent->path);
    int r;

    if (!path)
        return -ENOMEM;
    do {
        if (intended_by_another(warden, intent, path))
            return 0;
        r = remove_at(grant, path);
    } while (r == -ENOENT && cut_last(path));
    return r;
}

static int grant_of(const struct leg *leg, const struct intent *intent)
{
    for (uint32_t i = 0; i < leg->request.n_grants; i++) {
        if (leg->grant_dev[i] == intent->dev && leg->grant_ino[i] == intent->ino)
            return leg->grant_fds[i];
    }
    return -EBADF;
}

void placeholders_release(struct leg *leg)
{
    struct intent *intent, *next;

    /* Children before parents: a placeholder below a placeholder goes first. */
    for (intent = TAILQ_LAST(&leg->warden->intents, intent_list); intent; intent = next) {
        int grant;

        next = TAILQ_PREV(intent, intent_list, entry);
        if (intent->leg != leg->id)
            continue;
        grant = grant_of(leg, intent);
        if (grant >= 0 && intent->path) {
            int r = release_one(leg->warden, intent, grant);

            if (r < 0 && r != -ENOENT)
                log_warning(
                    "leg %llu: a placeholder stays: %s", (unsigned long long)leg->id, strerror(-r));
        }
        TAILQ_REMOVE(&leg->warden->intents, intent, entry);
        free(intent->path);
        free(intent);
    }
}

int placeholder_remove(int directory, const char *path)
{
    auto_free char *way = strdup(path);
    int r;

    if (!way)
        return -ENOMEM;
    do
        r = remove_at(directory, way);
    while (r == -ENOENT && cut_last(way));
    return r;
}
