#include "isolation.h"

#include "enclosure.h"
#include "identity.h"
#include "steps.h"
#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>

#define DESCRIPTORS_MAX 256

int isolation_prepare(int root, struct fault *ret_fault)
{
    const uint64_t becoming = 1U << CAP_SETUID | 1U << CAP_SETGID;
    int r;

    r = enclosure_root(root, ret_fault);
    if (r == 0)
        r = enclosure_limit(RLIMIT_NOFILE, DESCRIPTORS_MAX, ret_fault);
    if (r == 0)
        r = enclosure_limit(RLIMIT_CORE, 0, ret_fault);
    if (r < 0)
        return r;
    /* Each front inherits it, and finds it done. */
    r = identity_bound();
    if (r == 0)
        r = identity_keep(becoming);
    if (r < 0)
        return fault_set(ret_fault, STEP_CAPABILITIES, -r, "keeping those that change the ids");
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return fault_set(ret_fault, STEP_IDENTITY, errno, "dumpable");
    return 0;
}
