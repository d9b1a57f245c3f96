#include "enclosure_door.h"

#include "filters.h"
#include "identity.h"
#include "own.h"
#include "seccomp.h"
#include "steps.h"
#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define DESCRIPTORS 2200 /* two a connection, and a few */
#define MEMORY (256UL << 20)

static int set_limits(struct fault *fault)
{
    static const struct {
        __rlimit_resource_t resource;
        rlim_t value;
    } limits[] = {
        {RLIMIT_NOFILE, DESCRIPTORS},
        {RLIMIT_CORE, 0},
        {RLIMIT_NPROC, 0},
#ifndef SAPHAN_SANITIZED /* whose shadow memory is terabytes of addresses */
        {RLIMIT_AS, MEMORY},
#endif
    };

    for (size_t i = 0; i < array_size(limits); i++) {
        const struct rlimit limit = {limits[i].value, limits[i].value};

        if (setrlimit(limits[i].resource, &limit) < 0)
            return fault_set(fault, STEP_LIMITS, errno, "rlimit %d", (int)limits[i].resource);
    }
    return 0;
}

int door_enclose(uint32_t uid, int root, struct fault *ret_fault)
{
    const struct identity nobody = {.uid = uid, .gid = uid};
    auto_close int owned = root;
    int r;

    /* Safe to do as root: the directory is the warden's descriptor, no name is resolved. */
    if (fchdir(owned) < 0 || chroot(".") < 0)
        return fault_set(ret_fault, STEP_ROOT, errno, "empty root");
    close_fd(&owned);
    r = set_limits(ret_fault);
    if (r < 0)
        return r;
    r = identity_give_up(&nobody);
    if (r < 0)
        return fault_set(ret_fault, STEP_IDENTITY, -r, "uid %u", uid);
    if (!identity_is_powerless())
        return fault_set(ret_fault, STEP_CAPABILITIES, EPERM, "a capability is left");
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NAME, "saphan-door", 0, 0, 0) < 0)
        return fault_set(ret_fault, STEP_IDENTITY, errno, "dumpable");
    r = seccomp_install(&filter_door);
    return r < 0 ? fault_set(ret_fault, STEP_SECCOMP, -r, "filter of door") : 0;
}
