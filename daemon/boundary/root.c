#include "stages.h"

#include "mount.h"
#include "own.h"
#include "path.h"
#include "steps.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define BYTES_PER_INODE 4096
#define INODES_MIN 1024

int stage_root(struct site *site, struct fault *ret_fault)
{
    static const char *const options[] = {"mode", "0755", "size", "1m", "nr_inodes", "4096", NULL};
    int r;

    site->root = mount_new("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    if (site->root < 0)
        return fault_set(ret_fault, STEP_ROOT, -site->root, "/");
    /* On top of the host's "/": no place in its tree is needed.  This mount namespace is the slot's
     * own, and receives from the host's but does not send to it (mount_namespaces(7)). */
    r = mount_attach(site->root, AT_FDCWD, "/");
    if (r == 0)
        r = mask_prepare(site);
    return r < 0 ? fault_set(ret_fault, STEP_ROOT, -r, "/") : 0;
}

static int scratch_new(const struct site *site)
{
    char size[32], inodes[32];
    uint64_t count = site->plan->scratch_bytes / BYTES_PER_INODE;
    const char *const options[] = {"mode", "0755", "size", size, "nr_inodes", inodes, NULL};

    (void)snprintf(size, sizeof(size), "%" PRIu64, site->plan->scratch_bytes);
    (void)snprintf(inodes, sizeof(inodes), "%" PRIu64, count < INODES_MIN ? INODES_MIN : count);
    return mount_new("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

/* A directory of the scratch file system, as a mount of its own. */
static int scratch_part(
    const struct site *site, int scratch, const char *name, unsigned int mode, bool owned)
{
    if (mkdirat(scratch, name, 0700) < 0 || fchmodat(scratch, name, mode, 0) < 0)
        return -errno;
    if (owned && fchownat(scratch, name, site->plan->uid, site->plan->gid, 0) < 0)
        return -errno;
    return mount_clone(scratch, name, 0);
}

static int scratch_parts(struct site *site, int scratch)
{
    const struct {
        const char *name;
        unsigned int mode;
        bool owned;
        int *part;
    } parts[] = {
        {"tmp", 01777, false, &site->tmp},
        {"run", 0755, true, &site->run},
        {"shm", 01777, false, &site->shm},
        {"home", 0700, true, &site->home},
    };

    for (size_t i = 0; i < array_size(parts); i++) {
        int part = scratch_part(site, scratch, parts[i].name, parts[i].mode, parts[i].owned);

        if (part < 0)
            return part;
        *parts[i].part = part;
    }
    return 0;
}

/* Before Linux 6.15 only what is attached can be copied: so the whole stands on /tmp while its
 * parts are taken, and stays there, covered by the first of them.  (To take it off again would be a
 * wait for all cpus, and it holds nothing but those parts.) */
static int scratch(struct site *site, int *ret_whole)
{
    auto_close int whole = -EBADF, at = -EBADF;
    int r;

    whole = scratch_new(site);
    if (whole < 0)
        return whole;
    r = target_open(site, "/tmp", true, &at);
    if (r == 0)
        r = mount_attach(whole, at, "");
    if (r == 0)
        r = scratch_parts(site, whole);
    if (r == 0 && ret_whole)
        *ret_whole = steal_fd(&whole);
    return r;
}

int scratch_make(struct site *site, int *ret_whole, struct fault *ret_fault)
{
    int r = scratch(site, ret_whole);

    return r < 0 ? fault_set(ret_fault, STEP_ROOT, -r, "the leg's own /tmp") : 0;
}

static int attach_part(struct site *site, int part, const char *path, struct fault *ret_fault)
{
    auto_close int at = -EBADF;
    int r = target_open(site, path, true, &at);

    if (r == 0)
        r = mount_attach(part, at, "");
    return r < 0 ? fault_set(ret_fault, STEP_ROOT, -r, "%s", path) : 0;
}

/* HOME of the plan's environment; NULL when a mount of the plan holds it. */
static const char *scratch_home(const struct site *site)
{
    const struct plan *plan = site->plan;
    const char *variable = site->view->strings + plan->env.offset;

    for (uint32_t i = 0; i < plan->env.count; i++, variable += strlen(variable) + 1) {
        if (!text_starts_with(variable, "HOME="))
            continue;
        variable += strlen("HOME=");
        for (uint32_t m = 0; m < plan->n_mounts; m++) {
            const char *target = plan_text(site->view, plan->mounts[m].target);

            if (text_path_beneath(variable, target))
                return NULL;
        }
        return text_path_is_normal(variable) && variable[1] != '\0' ? variable : NULL;
    }
    return NULL;
}

int stage_scratch(struct site *site, struct fault *ret_fault)
{
    int r = scratch_make(site, NULL, ret_fault);

    return r == 0 ? scratch_attach(site, ret_fault) : r;
}

int scratch_attach(struct site *site, struct fault *ret_fault)
{
    const char *home = scratch_home(site);
    int r = attach_part(site, site->tmp, "/tmp", ret_fault);

    if (r == 0)
        r = attach_part(site, site->run, "/run", ret_fault);
    if (r == 0 && home)
        r = attach_part(site, site->home, home, ret_fault);
    if (r < 0)
        return r;
    if (!home)
        close_fd(&site->home);
    return 0;
}

int stage_seal_root(struct site *site, struct fault *ret_fault)
{
    int r = mask_finish(site);

    if (r == 0)
        r = mount_set(site->root, MOUNT_ATTR_RDONLY, -EBADF, false);
    return r < 0 ? fault_set(ret_fault, STEP_ROOT, -r, "read-only /") : 0;
}
