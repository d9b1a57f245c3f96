#include "stages.h"

#include "mount.h"
#include "own.h"
#include "path.h"
#include "steps.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>

static int attach(const struct site *site, int mount, const char *name)
{
    auto_close int at = -EBADF;

    at = path_open(site->devices, name, O_PATH | O_DIRECTORY, PATH_BENEATH | PATH_NO_SYMLINKS);
    return at < 0 ? at : mount_attach(mount, at, "");
}

static int attach_devices(struct site *site, const struct plan_mount *mount)
{
    auto_close int at = -EBADF;
    int r = target_open(site, "/dev", true, &at);

    if (r == 0)
        r = mount_attach(site->descriptors[mount->descriptor], at, "");
    if (r < 0)
        return r;
    site->devices = fcntl(site->descriptors[mount->descriptor], F_DUPFD_CLOEXEC, 0);
    return site->devices < 0 ? -errno : 0;
}

/* Device nodes cannot be made in here: the warden made them.  Terminals are the leg's own. */
int stage_devices(struct site *site, struct fault *ret_fault)
{
    static const char *const options[] = {
        "newinstance", NULL, "ptmxmode", "0666", "mode", "0620", NULL};
    const struct plan *plan = site->plan;
    auto_close int terminals = -EBADF;
    int r = -ENOENT;

    for (uint32_t i = 0; i < plan->n_mounts; i++) {
        if (plan->mounts[i].kind == PLAN_MOUNT_DEV)
            r = attach_devices(site, &plan->mounts[i]);
    }
    if (r < 0)
        return fault_set(ret_fault, STEP_DEVICES, -r, "/dev");
    terminals = mount_new("devpts", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
    r = terminals < 0 ? terminals : attach(site, terminals, "pts");
    if (r < 0)
        return fault_set(ret_fault, STEP_DEVICES, -r, "/dev/pts");
    r = attach(site, site->shm, "shm");
    return r < 0 ? fault_set(ret_fault, STEP_DEVICES, -r, "/dev/shm") : 0;
}
