#include "image_store.h"

#include "idmap.h"
#include "ledger_images.h"
#include "log.h"
#include "mount.h"
#include "namespace.h"
#include "program.h"
#include "text.h"
#include "undertaker.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif

#define NAMESPACES                                                                                 \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP |  \
        CLONE_NEWNET)
#define CLEAR_SECONDS 3600

/* What waits to be emptied; the first is being emptied. */
struct discard {
    TAILQ_ENTRY(discard) entry;
    char *name;
};
TAILQ_HEAD(discard_list, discard);

struct image_store {
    struct warden *warden;
    int staging, layers;
    int nowhere; /* a detached, empty, read-only file system: an unpacker's root */
    struct discard_list discards;
    struct program_child clearing; /* pidfd >= 0: under way */
    struct event *readable, *deadline;
    int maps[1024]; /* by range number: user namespaces */
    uint64_t serial;
};

/* ---- unpackers ---- */

int image_store_unpacker(struct warden *warden, struct program_child *ret)
{
    static const char *const argv[] = {"saphan-unpacker", NULL};
    static const char *const envp[] = {NULL};
    auto_close int ours = -EBADF, theirs = -EBADF;
    struct namespace_child child;
    int pair[2], r;

    r = seam_channel_pair(pair);
    if (r < 0)
        return r;
    ours = pair[0];
    theirs = pair[1];
    if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
        return -errno;
    r = namespace_spawn(&(struct namespace_spawn){.namespaces = NAMESPACES,
                            .id_base = STORE_ID,
                            .cgroup = -EBADF,
                            .program = warden->programs[PROGRAM_UNPACKER],
                            .argv = argv,
                            .envp = envp,
                            .channel = theirs,
                            .null = warden->null},
        &child);
    if (r < 0)
        return r;
    close(child.user_namespace);
    *ret =
        (struct program_child){.pid = child.pid, .pidfd = child.pidfd, .channel = steal_fd(&ours)};
    return 0;
}

/* Of a directory of ours, for an unpacker: a mount has no way up. */
static int detach(int directory, const char *name)
{
    int mount = mount_clone(directory, name, AT_SYMLINK_NOFOLLOW), r;

    if (mount < 0)
        return mount;
    r = mount_set(mount, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, -EBADF, false);
    if (r < 0) {
        close(mount);
        return r;
    }
    return mount;
}

/* ---- what goes ---- */

static void clear_next(struct image_store *store);

static void end_clearing(struct image_store *store)
{
    if (store->readable)
        event_free(store->readable);
    if (store->deadline)
        event_free(store->deadline);
    store->readable = store->deadline = NULL;
    program_end(store->warden, &store->clearing, NOBODY);
}

/* The first is done with, well or not: what is left of it is swept at the next start. */
static void cleared(struct image_store *store, int error)
{
    struct discard *discard = TAILQ_FIRST(&store->discards);

    end_clearing(store);
    if (error == 0 && unlinkat(store->staging, discard->name, AT_REMOVEDIR) < 0)
        error = errno;
    if (error != 0 && error != ENOENT)
        log_error("images: %s could not be emptied: %s", discard->name, strerror(error));
    TAILQ_REMOVE(&store->discards, discard, entry);
    free(discard->name);
    free(discard);
    clear_next(store);
}

static void clearer_says(evutil_socket_t fd, short what, void *context)
{
    struct image_store *store = context;
    struct seam_message message;
    int r = seam_receive(store->clearing.channel, &message), error = EPIPE;

    if (r == -EAGAIN)
        return;
    if (r == 0) {
        if (message.header.type == SEAM_CLEARED)
            error = (int)((const struct seam_end *)message.fixed)->value;
        seam_message_done(&message);
    }
    cleared(store, error);
}

static void clearer_hangs(evutil_socket_t fd, short what, void *context)
{
    cleared(context, ETIMEDOUT);
}

static int start_clearing(struct image_store *store, const char *name)
{
    static const struct timeval at_most = {.tv_sec = CLEAR_SECONDS};
    auto_close int directory = detach(store->staging, name);
    int given[2] = {store->nowhere, directory}, r;
    struct seam_end end = {0};
    struct seam_writer writer;

    if (directory < 0)
        return directory;
    r = image_store_unpacker(store->warden, &store->clearing);
    if (r < 0)
        return r;
    seam_writer_init(&writer, SEAM_CLEAR, 0);
    r = seam_send(store->clearing.channel, &writer, &end, given, 2);
    seam_writer_done(&writer);
    store->readable = event_new(
        store->warden->loop, store->clearing.channel, EV_READ | EV_PERSIST, clearer_says, store);
    store->deadline = evtimer_new(store->warden->loop, clearer_hangs, store);
    if (r == 0 && (!store->readable || !store->deadline || event_add(store->readable, NULL) < 0 ||
                      event_add(store->deadline, &at_most) < 0))
        r = -ENOMEM;
    return r > 0 ? -EPIPE : r;
}

static void clear_next(struct image_store *store)
{
    struct discard *discard = TAILQ_FIRST(&store->discards);
    int r;

    if (!discard || store->clearing.pidfd >= 0 || store->warden->stopping)
        return;
    /* An empty one needs nobody; and one that a kill left between its making and its giving away
     * is root's, so that no unpacker could open it. */
    if (unlinkat(store->staging, discard->name, AT_REMOVEDIR) == 0)
        r = -ENOENT;
    else
        r = start_clearing(store, discard->name);
    if (r < 0)
        cleared(store, -r);
}

void image_store_discard(struct warden *warden, const char *name)
{
    struct image_store *store = warden->store;
    struct discard *discard = calloc(1, sizeof(*discard));

    if (!discard || !(discard->name = strdup(name))) {
        free(discard);
        log_error("images: %s stays until the next start: memory", name);
        return;
    }
    TAILQ_INSERT_TAIL(&store->discards, discard, entry);
    clear_next(store);
}

int image_store_drop(struct warden *warden, const char *layer)
{
    struct image_store *store = warden->store;
    auto_free char *name = text_format("gone-%llu", (unsigned long long)++store->serial);

    if (!name)
        return -ENOMEM;
    if (renameat(store->layers, layer, store->staging, name) < 0)
        return errno == ENOENT ? 0 : -errno;
    image_store_discard(warden, name);
    return 0;
}

/* ---- what comes ---- */

int image_store_stage(struct warden *warden, const char *name, int *ret_fd)
{
    struct image_store *store = warden->store;
    int mount;

    if (mkdirat(store->staging, name, 0700) < 0)
        return -errno;
    if (fchownat(store->staging, name, STORE_ID, STORE_ID, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    mount = detach(store->staging, name);
    if (mount < 0)
        return mount;
    *ret_fd = mount;
    return 0;
}

int image_store_keep(struct warden *warden, const char *from, uint32_t index, const char *layer)
{
    struct image_store *store = warden->store;
    auto_free char *path = text_format("%s/%u", from, index);
    struct stat st;

    if (!path)
        return -ENOMEM;
    if (fstatat(store->staging, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode))
        return -ENOTDIR;
    /* Neither end is a link: staging and layers are ours alone, and FROM holds what an unpacker
     * made there; renameat2(2) moves the name itself. */
    if (renameat2(store->staging, path, store->layers, layer, RENAME_NOREPLACE) < 0)
        return errno == EEXIST ? 0 : -errno;
    return 0;
}

int image_store_sync(struct warden *warden)
{
    return fsync(warden->store->layers) < 0 ? -errno : 0;
}

int image_store_layer(const struct warden *warden, const char *layer)
{
    return detach(warden->store->layers, layer);
}

int image_store_map(struct warden *warden, uint32_t base, int *ret_user_namespace)
{
    uint32_t number = (base - warden->id_first) / 65536;
    const struct idmap_extent whole = {.inside = STORE_ID, .outside = base, .count = 65536};
    int *map = &warden->store->maps[number % array_size(warden->store->maps)];

    if (*map < 0)
        *map = idmap_namespace(&whole, 1, &whole, 1);
    if (*map < 0)
        return *map;
    *ret_user_namespace = *map;
    return 0;
}

/* ---- start and stop ---- */

static int open_directory(int parent, const char *name)
{
    int fd;

    if (mkdirat(parent, name, 0700) < 0 && errno != EEXIST)
        return -errno;
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? -errno : fd;
}

static int each_name(
    int fd, int (*take)(struct warden *warden, const char *name), struct warden *warden)
{
    int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
    DIR *directory = again < 0 ? NULL : fdopendir(again);
    struct dirent *entry;

    if (!directory)
        return -errno;
    while (r == 0 && (entry = readdir(directory))) {
        if (entry->d_name[0] != '.')
            r = take(warden, entry->d_name);
    }
    (void)closedir(directory);
    return r;
}

/* Names that a crash left are never met again: what is new counts on from the clock. */
static int sweep_staged(struct warden *warden, const char *name)
{
    image_store_discard(warden, name);
    return 0;
}

static int sweep_layer(struct warden *warden, const char *name)
{
    int r = ledger_layer_known(warden->ledger, name);

    return r == 0 ? image_store_drop(warden, name) : r < 0 ? r : 0;
}

static int make_nowhere(void)
{
    static const char *const options[] = {"mode", "0555", "size", "4k", NULL};

    return mount_new("tmpfs", options,
        MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
}

int image_store_nowhere(const struct warden *warden)
{
    return warden->store->nowhere;
}

int image_store_open(struct warden *warden)
{
    auto_close int images = open_directory(warden->state, "images");
    struct image_store *store = calloc(1, sizeof(*store));
    int r;

    if (!store)
        return -ENOMEM;
    warden->store = store;
    store->warden = warden;
    store->serial = (uint64_t)warden->started_ms * 1000;
    store->clearing = (struct program_child){.pidfd = -EBADF, .channel = -EBADF};
    TAILQ_INIT(&store->discards);
    for (size_t i = 0; i < array_size(store->maps); i++)
        store->maps[i] = -EBADF;
    store->staging = images < 0 ? images : open_directory(images, "staging");
    store->layers = images < 0 ? images : open_directory(images, "layers");
    store->nowhere = make_nowhere();
    if (store->staging < 0 || store->layers < 0 || store->nowhere < 0)
        return store->staging < 0  ? store->staging
               : store->layers < 0 ? store->layers
                                   : store->nowhere;
    r = ledger_image_adds_forget(warden->ledger);
    if (r == 0)
        r = each_name(store->staging, sweep_staged, warden);
    return r == 0 ? each_name(store->layers, sweep_layer, warden) : r;
}

void image_store_close(struct warden *warden)
{
    struct image_store *store = warden->store;
    struct discard *discard;

    if (!store)
        return;
    end_clearing(store);
    while ((discard = TAILQ_FIRST(&store->discards))) {
        TAILQ_REMOVE(&store->discards, discard, entry);
        free(discard->name);
        free(discard);
    }
    for (size_t i = 0; i < array_size(store->maps); i++)
        close_fd(&store->maps[i]);
    close_fd(&store->staging);
    close_fd(&store->nowhere);
    close_fd(&store->layers);
    free(store);
    warden->store = NULL;
}
