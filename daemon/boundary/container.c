/* A root of its own: the layers of an image, stacked by overlayfs.
 *
 * It is built on the slot's own root, which nobody but pid 1 has ever seen, and then pivoted into.
 * The overlay is made here, in the leg's user namespace, so that what it does it does with the
 * rights of the leg's own root and never with the host's.  Its upper directory is a part of the
 * scratch: in it the places that an image lacks are made.  Afterwards the root is read-only, or
 * stays writable within the scratch's bound.
 *
 * A link of an image on the way to a place leads where it would inside: what we mount on is walked
 * to as text, a component at a time, so that nothing leads out of the root (way.h); over a link in
 * a place of ours (/proc, /dev, ...) stands a directory, and no grant comes to stand in one.
 */
#include "stages.h"

#include "mount.h"
#include "own.h"
#include "path.h"
#include "steps.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define LAYERS "/.l"
#define PLACE_MAX 16

int stage_host_name(struct site *site, struct fault *ret_fault)
{
    const char *name = plan_text(site->view, site->plan->host_name);

    if (name && sethostname(name, strlen(name)) < 0)
        return fault_set(ret_fault, STEP_HOST_NAME, errno, "%s", name);
    return 0;
}

/* Overlayfs takes what is attached in our own mount namespace, by path. */
static int attach_layers(struct site *site, char paths[][PLACE_MAX], struct fault *ret_fault)
{
    for (uint32_t i = 0; i < site->plan->n_layers; i++) {
        auto_close int at = -EBADF;
        int r;

        (void)snprintf(paths[i], PLACE_MAX, LAYERS "/%u", i);
        r = target_open(site, paths[i], true, &at);
        if (r == 0)
            r = mount_attach(site->descriptors[site->plan->layers[i]], at, "");
        if (r < 0)
            return fault_set(ret_fault, STEP_LAYERS, -r, "layer %u", i);
    }
    return 0;
}

static int stack(struct site *site, struct fault *ret_fault)
{
    static char paths[PLAN_LAYERS_MAX][PLACE_MAX];
    const char *layers[PLAN_LAYERS_MAX];
    int r = attach_layers(site, paths, ret_fault);

    if (r < 0)
        return r;
    for (uint32_t i = 0; i < site->plan->n_layers; i++)
        layers[i] = paths[i];
    r = mount_overlay(layers, site->plan->n_layers, "/tmp/upper", "/tmp/work",
        MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    return r < 0 ? fault_set(ret_fault, STEP_LAYERS, -r, "overlayfs") : r;
}

/* Whatever an image has in a place of ours, a directory of the upper one stands above it.  (To take
 * it away and make one would need an attribute that tmpfs does not keep before Linux 6.6.) */
static int make_upper(int scratch, struct fault *ret_fault)
{
    static const char *const places[] = {
        "upper", "upper/proc", "upper/sys", "upper/dev", "upper/tmp", "upper/run"};

    if (mkdirat(scratch, "work", 0700) < 0)
        return fault_set(ret_fault, STEP_LAYERS, errno, "work directory");
    for (size_t i = 0; i < array_size(places); i++) {
        if (mkdirat(scratch, places[i], 0755) < 0)
            return fault_set(ret_fault, STEP_LAYERS, errno, "%s", places[i]);
    }
    return sys_make(scratch, ret_fault);
}

int stage_image(struct site *site, struct fault *ret_fault)
{
    auto_close int scratch = -EBADF, image = -EBADF, at = -EBADF;
    int r = scratch_make(site, &scratch, ret_fault);

    if (r == 0)
        r = make_upper(scratch, ret_fault);
    if (r < 0)
        return r;
    image = stack(site, ret_fault);
    if (image < 0)
        return image;
    r = target_open(site, "/.image", true, &at);
    if (r == 0)
        r = mount_attach(image, at, "");
    if (r < 0)
        return fault_set(ret_fault, STEP_LAYERS, -r, "/");
    site->sys = mount_clone(scratch, "sys", 0);
    if (site->sys < 0)
        return fault_set(ret_fault, STEP_LAYERS, -site->sys, "/sys");
    close_fd(&site->root);
    site->root = steal_fd(&image);
    return 0;
}

static int take_place(struct site *site, int mount, const char *path)
{
    auto_close int at = -EBADF;
    int r = target_open(site, path, true, &at);

    return r < 0 ? r : mount_attach(mount, at, "");
}

/* /proc was made, and masked, while the slot was: it moves here whole. */
static int system_places(struct site *site, struct fault *ret_fault)
{
    int r = site->plan->nested_allowed ? proc_unmask(site) : 0;

    if (r == 0)
        r = take_place(site, site->proc, "/proc");
    if (r < 0)
        return fault_set(ret_fault, STEP_PROC, -r, "/proc");
    r = mount_set(site->sys, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, -EBADF, false);
    if (r == 0)
        r = take_place(site, site->sys, "/sys");
    return r < 0 ? fault_set(ret_fault, STEP_MOUNTS, -r, "/sys") : 0;
}

int stage_image_places(struct site *site, struct fault *ret_fault)
{
    int r = system_places(site, ret_fault);

    return r < 0 ? r : scratch_attach(site, ret_fault);
}

/* As the image's own tools would: a working directory that is missing is made. */
int stage_image_directory(struct site *site, struct fault *ret_fault)
{
    const char *path = plan_text(site->view, site->plan->directory);
    auto_close int fd = -EBADF;
    int r;

    fd = path_open(site->root, path, O_PATH | O_DIRECTORY, PATH_IN_ROOT);
    if (fd != -ENOENT)
        return 0; /* chdir(2) tells what else is wrong with it */
    r = target_open(site, path, true, &fd);
    return r < 0 ? fault_set(ret_fault, STEP_DIRECTORY, -r, "%s", path) : 0;
}

int stage_seal_image(struct site *site, struct fault *ret_fault)
{
    int r = 0;

    if (!site->plan->writable_root)
        r = mount_set(site->root, MOUNT_ATTR_RDONLY, -EBADF, false);
    return r < 0 ? fault_set(ret_fault, STEP_ROOT, -r, "read-only /") : 0;
}
