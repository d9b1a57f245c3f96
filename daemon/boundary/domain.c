#include "stages.h"

#include "landlock.h"
#include "own.h"
#include "steps.h"
#include <errno.h>
#include <sys/stat.h>

#define READ (LANDLOCK_FS_EXECUTE | LANDLOCK_FS_READ_FILE | LANDLOCK_FS_READ_DIR)
#define DEVICES                                                                                    \
    (LANDLOCK_FS_READ_FILE | LANDLOCK_FS_READ_DIR | LANDLOCK_FS_WRITE_FILE |                       \
        LANDLOCK_FS_TRUNCATE | LANDLOCK_FS_IOCTL_DEV)
/* A shell that writes to a process's own files opens them with O_TRUNC. */
#define PROC                                                                                       \
    (LANDLOCK_FS_READ_FILE | LANDLOCK_FS_READ_DIR | LANDLOCK_FS_WRITE_FILE | LANDLOCK_FS_TRUNCATE)
/* Sockets that were bound inside the domain can be reached without a rule; those of the host must
 * not be, be they in a grant or not. */
#define EVERYTHING (~LANDLOCK_FS_RESOLVE_UNIX)

static uint64_t rights_of(uint32_t kind)
{
    switch (kind) {
    case PLAN_MOUNT_WRITE:
        return EVERYTHING;
    case PLAN_MOUNT_DEV:
        return DEVICES;
    default:
        return READ;
    }
}

static int allow(const struct site *site, int fd, uint64_t rights)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    rights &= site->plan->landlock_fs;
    if (!S_ISDIR(st.st_mode))
        rights &= LANDLOCK_FS_FILE;
    return rights ? landlock_allow_path(site->ruleset, fd, rights) : 0;
}

static int allow_own(const struct site *site, struct fault *ret_fault)
{
    const struct {
        int fd;
        uint64_t rights;
        const char *name;
    } own[] = {
        {site->root, LANDLOCK_FS_READ_DIR, "/"}, /* so that `ls /` and its like work */
        {site->tmp, EVERYTHING, "/tmp"},
        {site->run, EVERYTHING, "/run"},
        {site->shm, EVERYTHING, "/dev/shm"},
        {site->home, EVERYTHING, "HOME"},
        {site->proc, PROC, "/proc"},
    };

    for (size_t i = 0; i < array_size(own); i++) {
        int r = own[i].fd < 0 ? 0 : allow(site, own[i].fd, own[i].rights);

        if (r < 0)
            return fault_set(ret_fault, STEP_LANDLOCK, -r, "%s", own[i].name);
    }
    return 0;
}

/* Rules name inodes, so the mounts' own descriptors do: no path is looked up again. */
int stage_domain(struct site *site, struct fault *ret_fault)
{
    const struct plan *plan = site->plan;

    if (plan->landlock_fs == 0 && plan->landlock_net == 0 && plan->landlock_scoped == 0)
        return fault_set(ret_fault, STEP_LANDLOCK, EINVAL, "a plan without a domain");
    site->ruleset = landlock_ruleset(plan->landlock_fs, plan->landlock_net, plan->landlock_scoped);
    if (site->ruleset < 0)
        return fault_set(ret_fault, STEP_LANDLOCK, -site->ruleset, "ruleset");
    for (uint32_t i = 0; i < plan->n_mounts; i++) {
        int r = allow(
            site, site->descriptors[plan->mounts[i].descriptor], rights_of(plan->mounts[i].kind));

        if (r < 0)
            return fault_set(
                ret_fault, STEP_LANDLOCK, -r, "%s", plan_text(site->view, plan->mounts[i].target));
    }
    return allow_own(site, ret_fault);
}
