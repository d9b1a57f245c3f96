#include "walls.h"

#include "filters.h"
#include "identity.h"
#include "landlock.h"
#include "own.h"
#include "rlimit.h"
#include "seccomp.h"
#include "steps.h"
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MEMORY (1ULL << 30)
#define DESCRIPTORS 1024

/* Owners, modes and times of files that are another id's, all of them the store's. */
#define KEPT (1U << CAP_CHOWN | 1U << CAP_DAC_OVERRIDE | 1U << CAP_FOWNER | 1U << CAP_FSETID)

/* What it has open is a detached mount, whose ".." is itself: so an empty root is one. */
static int leave(int empty_root)
{
    (void)umask(0);
    if (fchdir(empty_root) < 0 || chroot(".") < 0 || chdir("/") < 0)
        return -errno;
    return 0;
}

static int limits(void)
{
    int r = rlimit_lower(RLIMIT_CORE, 0);

    if (r == 0)
        r = rlimit_lower(RLIMIT_NPROC, 0);
    if (r == 0)
        r = rlimit_lower(RLIMIT_NOFILE, DESCRIPTORS);
#ifndef SAPHAN_SANITIZED
    if (r == 0)
        r = rlimit_lower(RLIMIT_AS, MEMORY);
#endif
    return r;
}

static int keep_few_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

    for (unsigned long capability = 0; capability < 64; capability++) {
        if (capability < 32 && KEPT & 1U << capability)
            continue;
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0 && errno != EINVAL)
            return -errno;
    }
    memset(sets, 0, sizeof(sets));
    sets[0].permitted = sets[0].effective = KEPT;
    return syscall(SYS_capset, &header, sets) < 0 ? -errno : 0;
}

/* What changes anything is refused but beneath STAGING.  Where there is no Landlock the walls are
 * one less: it is not the only one. */
static int enter_domain(int staging)
{
    auto_close int ruleset = -EBADF;
    int abi = landlock_abi(), r;
    uint64_t rights;

    if (abi == -ENOSYS || abi == -EOPNOTSUPP)
        return 0;
    if (abi < 0)
        return abi;
    rights = landlock_fs_rights(abi) & ~(LANDLOCK_FS_READ_FILE | LANDLOCK_FS_READ_DIR);
    ruleset = landlock_ruleset(rights, landlock_net_rights(abi), landlock_scopes(abi));
    if (ruleset < 0)
        return ruleset;
    r = landlock_allow_path(ruleset, staging, rights & ~LANDLOCK_FS_EXECUTE);
    return r < 0 ? r : landlock_restrict(ruleset, 0);
}

int walls_raise(int empty_root, int staging, struct fault *ret_fault)
{
    int r = leave(empty_root);

    if (r < 0)
        return fault_set(ret_fault, STEP_ROOT, -r, "an empty root");
    r = limits();
    if (r < 0)
        return fault_set(ret_fault, STEP_LIMITS, -r, "rlimits");
    r = keep_few_capabilities();
    if (r < 0)
        return fault_set(ret_fault, STEP_CAPABILITIES, -r, "all but a few");
    r = identity_no_new_privs();
    if (r < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return fault_set(ret_fault, STEP_NO_NEW_PRIVS, r < 0 ? -r : errno, "no_new_privs");
    r = enter_domain(staging);
    if (r < 0)
        return fault_set(ret_fault, STEP_LANDLOCK, -r, "the staging directory alone");
    r = seccomp_install(&filter_unpacker);
    return r < 0 ? fault_set(ret_fault, STEP_SECCOMP, -r, "filter") : 0;
}
