#include "enclosure.h"

#include "identity.h"
#include "own.h"
#include "steps.h"
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

static int check_empty(struct fault *ret_fault)
{
    DIR *directory = opendir(".");
    struct dirent *entry;
    int r = 0;

    if (!directory)
        return fault_set(ret_fault, STEP_ROOT, errno, "empty root");
    while ((entry = readdir(directory))) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            r = fault_set(ret_fault, STEP_ROOT, ENOTEMPTY, "empty root");
    }
    (void)closedir(directory);
    return r;
}

/* Safe to do as root: the directory is the warden's descriptor, no name of anybody is resolved.
 * No descriptor of another directory is open, so there is no way back out. */
int enclosure_root(int root, struct fault *ret_fault)
{
    auto_close int owned = root;

    if (fchdir(owned) < 0 || chroot(".") < 0)
        return fault_set(ret_fault, STEP_ROOT, errno, "empty root");
    return check_empty(ret_fault);
}

int enclosure_limit(__rlimit_resource_t resource, rlim_t value, struct fault *ret_fault)
{
    const struct rlimit limit = {value, value};

    if (setrlimit(resource, &limit) < 0)
        return fault_set(ret_fault, STEP_LIMITS, errno, "rlimit %d", (int)resource);
    return 0;
}

/* Only gives away: the ids are the warden's own choice, and looked at once more when they stand. */
static int become_nobody(uint32_t uid, struct fault *ret_fault)
{
    const struct identity nobody = {.uid = uid, .gid = uid};
    int r = identity_give_up(&nobody);

    if (r < 0)
        return fault_set(ret_fault, STEP_IDENTITY, -r, "uid %u", uid);
    if (!identity_is_powerless())
        return fault_set(ret_fault, STEP_CAPABILITIES, EPERM, "a capability is left");
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return fault_set(ret_fault, STEP_IDENTITY, errno, "dumpable");
    return 0;
}

int enclosure_become(uint32_t uid, const struct seccomp_filter *filter, struct fault *ret_fault)
{
    int r = enclosure_limit(RLIMIT_NPROC, 0, ret_fault);

    if (r == 0)
        r = become_nobody(uid, ret_fault);
    if (r < 0)
        return r;
    r = seccomp_install(filter);
    return r < 0 ? fault_set(ret_fault, STEP_SECCOMP, -r, "filter") : 0;
}

int enclosure_enter(uint32_t uid, int root, rlim_t descriptors, const struct seccomp_filter *filter,
    struct fault *ret_fault)
{
    int r = enclosure_root(root, ret_fault);

    if (r == 0)
        r = enclosure_limit(RLIMIT_NOFILE, descriptors, ret_fault);
    if (r == 0)
        r = enclosure_limit(RLIMIT_CORE, 0, ret_fault);
    return r < 0 ? r : enclosure_become(uid, filter, ret_fault);
}
