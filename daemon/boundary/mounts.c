#include "stages.h"

#include "mount.h"
#include "own.h"
#include "path.h"
#include "steps.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

const char *mount_place(const struct site *site, uint32_t i)
{
    return site->places[i] ? site->places[i] : plan_text(site->view, site->plan->mounts[i].target);
}

/* What is ours in a container, and its root: nothing is mounted there, whatever leads there. */
static bool is_ours(const char *place)
{
    static const char *const ours[] = {"/proc", "/sys", "/dev"};

    for (size_t i = 0; i < array_size(ours); i++) {
        if (text_path_beneath(place, ours[i]))
            return true;
    }
    return place[0] == '\0';
}

static int attach(struct site *site, uint32_t i, struct fault *ret_fault)
{
    const struct plan_mount *mount = &site->plan->mounts[i];
    const char *path = plan_text(site->view, mount->target);
    auto_close int at = -EBADF;
    struct way way;
    int r = target_find(site, path, mount->directory, &way, &at);

    if (r == 0 && !text_equal(way.done, path)) {
        if (is_ours(way.done))
            return fault_set(
                ret_fault, STEP_MOUNTS, EXDEV, "%s, which leads to %s/", path, way.done);
        site->places[i] = strdup(way.done);
        if (!site->places[i])
            r = -ENOMEM;
    }
    if (r == 0)
        r = mount_attach(site->descriptors[mount->descriptor], at, "");
    return r < 0 ? fault_set(ret_fault, STEP_MOUNTS, -r, "%s", path) : 0;
}

/* The plan has parents before children, by name.  Where links led elsewhere one grant could have
 * covered another, which nobody would hear of: each must be in sight. */
static int check_in_sight(const struct site *site, uint32_t i, struct fault *ret_fault)
{
    const struct plan_mount *mount = &site->plan->mounts[i];
    const char *place = mount_place(site, i);
    auto_close int at = -EBADF;
    uint64_t meant, found;
    int r;

    at = path_open(site->root, place + 1, O_PATH, PATH_BENEATH | PATH_NO_SYMLINKS);
    r = at < 0 ? at : path_mount(at, &found);
    if (r == 0)
        r = path_mount(site->descriptors[mount->descriptor], &meant);
    if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP || (r == 0 && meant != found))
        r = -EBUSY;
    return r < 0 ? fault_set(ret_fault, STEP_MOUNTS, -r, "%s, in the way of another grant", place)
                 : 0;
}

static int check_linked(const struct site *site, struct fault *ret_fault)
{
    const struct plan *plan = site->plan;
    bool linked = false;
    int r = 0;

    for (uint32_t i = 0; i < plan->n_mounts; i++)
        linked = linked || site->places[i];
    for (uint32_t i = 0; linked && r == 0 && i < plan->n_mounts; i++) {
        if (plan->mounts[i].kind != PLAN_MOUNT_DEV)
            r = check_in_sight(site, i, ret_fault);
    }
    return r;
}

static int make_link(struct site *site, const char *path, const char *target)
{
    auto_close int parent = -EBADF;
    auto_free char *above = NULL;
    const char *name = strrchr(path, '/');
    int r;

    if (!text_path_is_normal(path) || path[1] == '\0' || !target)
        return -EINVAL;
    if (name == path)
        return symlinkat(target, site->root, name + 1) < 0 ? -errno : 0;
    above = strndup(path, (size_t)(name - path));
    r = above ? target_open(site, above, true, &parent) : -ENOMEM;
    if (r < 0)
        return r;
    return symlinkat(target, parent, name + 1) < 0 ? -errno : 0;
}

static int links(struct site *site, struct fault *ret_fault)
{
    const struct plan *plan = site->plan;

    for (uint32_t i = 0; i < plan->n_symlinks; i++) {
        const char *path = plan_text(site->view, plan->symlinks[i].path);
        int r =
            path ? make_link(site, path, plan_text(site->view, plan->symlinks[i].target)) : -EINVAL;

        if (r < 0)
            return fault_set(ret_fault, STEP_MOUNTS, -r, "%s", path ? path : "a link");
    }
    return 0;
}

int stage_mounts(struct site *site, struct fault *ret_fault)
{
    const struct plan *plan = site->plan;
    int r;

    for (uint32_t i = 0; i < plan->n_mounts; i++) {
        if (plan->mounts[i].kind == PLAN_MOUNT_DEV)
            continue; /* dev.c */
        r = attach(site, i, ret_fault);
        if (r < 0)
            return r;
    }
    r = check_linked(site, ret_fault);
    if (r < 0)
        return r;
    r = links(site, ret_fault);
    if (r < 0)
        return r;
    /* Nothing that is mounted on the host from now on may appear in here. */
    r = mount_set(site->root, 0, -EBADF, true);
    return r < 0 ? fault_set(ret_fault, STEP_MOUNTS, -r, "private mounts") : 0;
}
