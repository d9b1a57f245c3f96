/* Carve-outs.  Each is walked to, component by component, in the leg's own tree as it stands now:
 * what lies on the way is pinned (a mount point can be neither renamed nor removed), a link is
 * pinned and followed to where it really leads, and what is found in the end is bound read-only
 * over itself.  Every bind is made of exactly the descriptor that was looked at, and looked at
 * again afterwards: another leg may work in the same directory at the same time.
 */
#include "stages.h"

#include "mount.h"
#include "own.h"
#include "path.h"
#include "placeholder.h"
#include "steps.h"
#include "text.h"
#include "way.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#define TRIES_MAX 16
#define BENEATH (PATH_BENEATH | PATH_NO_SYMLINKS)

struct walk {
    struct site *site;
    uint32_t kind;
    struct way way; /* in the leg's tree */
    unsigned int tries;
};

static int open_here(const struct walk *walk)
{
    return way_open_here(&walk->way, walk->site->root);
}

static int open_name(const struct walk *walk)
{
    return way_open_name(&walk->way, walk->site->root);
}

static int is_writable(int fd)
{
    struct statvfs fs;

    if (fstatvfs(fd, &fs) < 0)
        return -errno;
    return fs.f_flag & ST_RDONLY ? 0 : 1;
}

/* Is what stands at the name now the mount that was made over FD? */
static int verify(const struct walk *walk, int fd)
{
    auto_close int now = -EBADF;
    struct stat meant, found;
    bool mount_root;
    int r;

    now = open_name(walk);
    if (now < 0)
        return now;
    r = path_stat(now, &found, &mount_root);
    if (r < 0)
        return r;
    if (fstat(fd, &meant) < 0)
        return -errno;
    if (!mount_root || meant.st_dev != found.st_dev || meant.st_ino != found.st_ino)
        return -ESTALE; /* renamed under our hands */
    return 0;
}

/* Binds FD over itself. */
static int bind(const struct walk *walk, int fd, bool read_only)
{
    auto_close int copy = -EBADF;
    int r;

    copy = mount_clone(fd, "", AT_RECURSIVE);
    if (copy < 0)
        return copy;
    if (read_only) {
        r = mount_set(copy, MOUNT_ATTR_RDONLY, -EBADF, true);
        if (r < 0)
            return r;
    }
    r = mount_attach(copy, fd, "");
    return r < 0 ? r : verify(walk, fd);
}

/* What was bound read-only took the grants beneath it along.  One of them may have to stay
 * writable: the gitdir of a linked worktree lies in the common directory's `worktrees`, which must
 * not change otherwise. */
static int reopen(const struct walk *walk)
{
    const struct plan *plan = walk->site->plan;
    char path[PATH_MAX + NAME_MAX + 2];

    (void)snprintf(path, sizeof(path), "%s/%s", walk->way.done, walk->way.name);
    for (uint32_t i = 0; i < plan->n_mounts; i++) {
        const char *target = mount_place(walk->site, i);
        auto_close int fd = -EBADF;
        int r;

        if (!plan->mounts[i].stays_writable || text_equal(target, path) ||
            !text_path_beneath(target, path))
            continue;
        fd = path_open(walk->site->root, target + 1, O_PATH | O_DIRECTORY, BENEATH);
        r = fd < 0 ? fd : mount_make_writable(fd);
        if (r < 0)
            return r;
    }
    return 0;
}

/* What a link led to is no name that the warden knows. */
static int note_led(const struct walk *walk)
{
    struct site *site = walk->site;

    if (walk->way.links == 0 || site->n_led == SITE_LED_MAX)
        return 0;
    site->led[site->n_led] = text_format("%s/%s", walk->way.done, walk->way.name);
    return site->led[site->n_led++] ? 0 : -ENOMEM;
}

/* Keeps FD in its place, unless it cannot be moved anyway. */
static int pin(const struct walk *walk, int fd)
{
    struct stat st;
    bool mount_root;
    int r = is_writable(fd);

    if (r <= 0 || target_is_own(walk->site, fd))
        return r < 0 ? r : 0;
    r = path_stat(fd, &st, &mount_root);
    return r < 0 || mount_root ? r : bind(walk, fd, false);
}

/* The end of the walk: this is what must stay as it is.  A placeholder stays empty even where what
 * it stands for would be writable. */
static int protect(const struct walk *walk, int fd)
{
    struct stat st;
    int r = is_writable(fd);

    if (r <= 0 || target_is_own(walk->site, fd))
        return r < 0 ? r : 0;
    if (walk->kind != CARVE_OUT_PIN) {
        r = bind(walk, fd, true);
        if (r == 0)
            r = reopen(walk);
        return r < 0 ? r : note_led(walk);
    }
    if (fstat(fd, &st) < 0)
        return -errno;
    r = S_ISDIR(st.st_mode) ? placeholder_is(fd) : 0;
    if (r < 0)
        return r;
    return r ? bind(walk, fd, true) : pin(walk, fd);
}

/* Nothing is there.  0: nothing needs to be; 1: something was put there, look again. */
static int absent(struct walk *walk)
{
    auto_close int here = -EBADF;
    uint32_t kind = walk->way.rest[0] ? CARVE_OUT_ALWAYS : walk->kind; /* a parent: a directory */
    int r;

    if (walk->kind == CARVE_OUT_IF_PRESENT)
        return 0;
    here = open_here(walk);
    if (here < 0)
        return here;
    r = is_writable(here);
    if (r <= 0 || target_is_own(walk->site, here))
        return r < 0 ? r : 0; /* the leg's own scratch goes with the leg */
    r = placeholder_is_needed(walk->site, here);
    if (r <= 0)
        return r;
    if (walk->way.links > 0)
        return -ENOENT; /* a link to nothing: the warden's journal knows only the name itself */
    r = placeholder_make(walk->site, here, walk->way.name, kind);
    return r == 0 || r == -EEXIST ? 1 : r;
}

/* A link keeps its place, and the walk goes on where it leads. */
static int follow(struct walk *walk, int fd)
{
    int r = pin(walk, fd);

    return r < 0 ? r : way_follow(&walk->way, fd);
}

/* The walk ends in the directory that it stands in. */
static int protect_here(struct walk *walk)
{
    auto_close int fd = -EBADF;

    if (!way_back(&walk->way))
        return 0; /* the leg's own root */
    fd = open_name(walk);
    return fd < 0 ? fd : protect(walk, fd);
}

/* "." and "..": only a link has them. */
static int step_dots(struct walk *walk)
{
    if (walk->way.name[1])
        way_pop(&walk->way);
    return walk->way.rest[0] ? 1 : protect_here(walk);
}

/* A link to where each process finds something else: what is behind it for the leg's programs, or
 * for the host's, is not what is found here. */
static bool is_each_ones_own(const struct way *way)
{
    if (way->links == 0 || way->done[0])
        return false;
    return text_equal(way->name, "proc") ||
           (text_equal(way->name, "dev") &&
               (strncmp(way->rest, "fd", 2) == 0 || strncmp(way->rest, "std", 3) == 0));
}

/* One component.  1: the walk goes on; 0: it is at its end. */
static int step(struct walk *walk)
{
    auto_close int fd = -EBADF;
    struct stat st;
    int r;

    if (text_equal(walk->way.name, ".") || text_equal(walk->way.name, ".."))
        return step_dots(walk);
    if (is_each_ones_own(&walk->way))
        return -ELOOP;
    fd = open_name(walk);
    if (fd == -ENOENT) {
        r = absent(walk);
        if (r <= 0)
            return r;
        return ++walk->tries > TRIES_MAX ? -EAGAIN : step(walk);
    }
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (S_ISLNK(st.st_mode)) {
        r = follow(walk, fd);
        return r < 0 ? r : 1;
    }
    if (walk->way.rest[0] == '\0' || !S_ISDIR(st.st_mode))
        return protect(walk, fd);
    r = placeholder_is(fd);
    if (r != 0)
        return r < 0 ? r : protect(walk, fd); /* ours holds the place of all that would be in it */
    r = pin(walk, fd);
    if (r == 0)
        r = way_push(&walk->way);
    return r < 0 ? r : 1;
}

static int carve(struct site *site, const struct plan_carve_out *carve_out, const char *path)
{
    const char *grant = mount_place(site, carve_out->mount);
    struct walk walk = {.site = site, .kind = carve_out->kind};
    int r = 1;

    if (strlen(grant) >= sizeof(walk.way.done) || strlen(path) >= sizeof(walk.way.rest))
        return -ENAMETOOLONG;
    strcpy(walk.way.done, text_equal(grant, "/") ? "" : grant);
    strcpy(walk.way.rest, path);
    while (r > 0 && way_next(&walk.way))
        r = step(&walk);
    return r < 0 ? r : 0;
}

int stage_carve_outs(struct site *site, struct fault *ret_fault)
{
    const struct plan *plan = site->plan;

    for (uint32_t i = 0; i < plan->n_carve_outs; i++) {
        const char *path = plan_text(site->view, plan->carve_outs[i].path);
        int r = carve(site, &plan->carve_outs[i], path);

        if (r < 0)
            return fault_set(ret_fault, STEP_CARVE_OUTS, -r, "%s/%s",
                plan_text(site->view, plan->mounts[plan->carve_outs[i].mount].target), path);
    }
    return 0;
}
