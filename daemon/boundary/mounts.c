#include "stages.h"

#include "mount.h"
#include "own.h"
#include "path.h"
#include "steps.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

static int attach(struct site *site, const struct plan_mount *mount, const char *path)
{
    auto_close int at = -EBADF;
    int r = target_open(site, path, mount->directory, &at);

    return r < 0 ? r : mount_attach(site->descriptors[mount->descriptor], at, "");
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
        const char *path = plan_text(site->view, plan->mounts[i].target);

        if (plan->mounts[i].kind == PLAN_MOUNT_DEV)
            continue; /* dev.c */
        r = attach(site, &plan->mounts[i], path);
        if (r < 0)
            return fault_set(ret_fault, STEP_MOUNTS, -r, "%s", path);
    }
    r = links(site, ret_fault);
    if (r < 0)
        return r;
    /* Nothing that is mounted on the host from now on may appear in here. */
    r = mount_set(site->root, 0, -EBADF, true);
    return r < 0 ? fault_set(ret_fault, STEP_MOUNTS, -r, "private mounts") : 0;
}
