#include "isolation.h"

#include "identity.h"
#include "own.h"
#include "steps.h"
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define DESCRIPTORS_MAX 256

static int check_empty(struct fault *fault)
{
    DIR *directory = opendir(".");
    struct dirent *entry;
    int r = 0;

    if (!directory)
        return fault_set(fault, STEP_ROOT, errno, "empty root");
    while ((entry = readdir(directory))) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            r = fault_set(fault, STEP_ROOT, ENOTEMPTY, "empty root");
    }
    (void)closedir(directory);
    return r;
}

/* Safe to do as root: the directory is the warden's descriptor, no name of anybody is resolved.
 * No descriptor of another directory is open, so there is no way back out. */
static int enter_root(int root, struct fault *fault)
{
    if (fchdir(root) < 0 || chroot(".") < 0)
        return fault_set(fault, STEP_ROOT, errno, "empty root");
    return check_empty(fault);
}

static int set_limit(__rlimit_resource_t resource, rlim_t value, struct fault *fault)
{
    const struct rlimit limit = {value, value};

    if (setrlimit(resource, &limit) < 0)
        return fault_set(fault, STEP_LIMITS, errno, "rlimit %d", (int)resource);
    return 0;
}

/* Only gives away: the ids are the warden's own choice, and looked at once more when they stand. */
static int become(uint32_t uid, struct fault *fault)
{
    const struct identity nobody = {.uid = uid, .gid = uid};
    int r = identity_give_up(&nobody);

    if (r < 0)
        return fault_set(fault, STEP_IDENTITY, -r, "uid %u", uid);
    if (!identity_is_powerless())
        return fault_set(fault, STEP_CAPABILITIES, EPERM, "a capability is left");
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return fault_set(fault, STEP_IDENTITY, errno, "dumpable");
    return 0;
}

int isolation_prepare(int root, struct fault *ret_fault)
{
    const uint64_t becoming = 1U << CAP_SETUID | 1U << CAP_SETGID | 1U << CAP_SETPCAP;
    auto_close int owned = root;
    int r;

    r = enter_root(owned, ret_fault);
    if (r == 0)
        r = set_limit(RLIMIT_NOFILE, DESCRIPTORS_MAX, ret_fault);
    if (r == 0)
        r = set_limit(RLIMIT_CORE, 0, ret_fault);
    if (r < 0)
        return r;
    r = identity_keep(becoming);
    if (r < 0)
        return fault_set(ret_fault, STEP_CAPABILITIES, -r, "keeping those that change the ids");
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return fault_set(ret_fault, STEP_IDENTITY, errno, "dumpable");
    return 0;
}

int isolation_complete(uint32_t uid, const struct seccomp_filter *filter, struct fault *ret_fault)
{
    int r = set_limit(RLIMIT_NPROC, 0, ret_fault);

    if (r == 0)
        r = become(uid, ret_fault);
    if (r < 0)
        return r;
    r = seccomp_install(filter);
    return r < 0 ? fault_set(ret_fault, STEP_SECCOMP, -r, "filter of front") : 0;
}
