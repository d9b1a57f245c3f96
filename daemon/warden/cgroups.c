#include "cgroups.h"

#include "cgroup.h"
#include "log.h"
#include "text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#define SWEEP_ROUNDS 100
#define SWEEP_WAIT_MS 10

/* A controller can be given to legs only when it is in our parent's subtree_control; we ask for
 * each, and what cannot be had is a rung that does not hold: the probe says so. */
static void delegate(struct warden *warden)
{
    uint32_t there = 0, on = 0;

    if (cgroup_controllers(warden->cgroup_base, "cgroup.controllers", &there) < 0)
        return;
    if (warden->cgroup_parent >= 0 &&
        cgroup_controllers(warden->cgroup_parent, "cgroup.controllers", &on) == 0 &&
        (on & ~there) && cgroup_delegate(warden->cgroup_parent, on & ~there, true) == 0) {
        warden->cgroup_delegated_by_us = on & ~there;
        there = on;
    }
    if (cgroup_delegate(warden->cgroup_base, there, true) == 0)
        warden->cgroup_controllers = there;
}

static int open_in_unit(struct warden *warden, int own)
{
    int daemon, r;

    r = cgroup_make(own, "daemon", &daemon);
    if (r == -EEXIST)
        daemon = openat(own, "daemon", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    else if (r < 0)
        return r;
    if (daemon < 0)
        return -errno;
    r = cgroup_enter(daemon, 0);
    close(daemon);
    if (r < 0)
        return r;
    warden->cgroup_base = own;
    return 0;
}

static int open_private(struct warden *warden, int own)
{
    int r;

    warden->cgroup_name = text_format("saphan-%d", (int)getpid());
    if (!warden->cgroup_name)
        return -ENOMEM;
    r = cgroup_make(own, warden->cgroup_name, &warden->cgroup_base);
    if (r == 0)
        warden->cgroup_parent = own;
    return r;
}

int cgroups_open(struct warden *warden)
{
    auto_free char *path = NULL;
    bool in_unit = getenv("INVOCATION_ID") && !warden->options.private_directory;
    int own, r;

    r = cgroup_open_own(&own, &path);
    if (r < 0) {
        log_error(
            "cgroup: no cgroup v2 to work in: %s: mount cgroup2, see cgroups(7)", strerror(-r));
        return r;
    }
    r = in_unit ? open_in_unit(warden, own) : open_private(warden, own);
    if (r < 0) {
        log_error("cgroup %s: %s: the unit needs Delegate=yes", path, strerror(-r));
        close(own);
        return r;
    }
    delegate(warden);
    return 0;
}

void cgroups_sweep_one(int parent, const char *name)
{
    int cgroup = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (cgroup < 0)
        return;
    (void)cgroup_kill(cgroup);
    for (int i = 0; i < SWEEP_ROUNDS && cgroup_remove(parent, name) == -EBUSY; i++)
        (void)poll(NULL, 0, SWEEP_WAIT_MS);
    close(cgroup);
}

void cgroups_sweep(struct warden *warden)
{
    int fd = openat(warden->cgroup_base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    if (!directory)
        return;
    while ((entry = readdir(directory))) {
        if (text_starts_with(entry->d_name, "slot-"))
            cgroups_sweep_one(warden->cgroup_base, entry->d_name);
    }
    (void)closedir(directory);
}

void cgroups_close(struct warden *warden)
{
    if (warden->cgroup_base >= 0)
        cgroups_sweep(warden);
    if (warden->cgroup_parent >= 0) {
        cgroups_sweep_one(warden->cgroup_parent, warden->cgroup_name);
        (void)cgroup_delegate(warden->cgroup_parent, warden->cgroup_delegated_by_us, false);
    }
    close_fd(&warden->cgroup_base);
    close_fd(&warden->cgroup_parent);
    free(warden->cgroup_name);
    warden->cgroup_name = NULL;
}
