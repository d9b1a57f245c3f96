#include "stages.h"

#include "steps.h"
#include <errno.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

/* pivot_root(2), "pivot_root(".", ".")": the old root lands on top of the new one and is taken off
 * with all that is mounted below it.  From here on no path of the host is left in this mount
 * namespace, and none can come back: nothing in it receives what is mounted outside. */
int stage_pivot(struct site *site, struct fault *ret_fault)
{
    if (fchdir(site->root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
        return fault_set(ret_fault, STEP_PIVOT, errno, "/");
    if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
        return fault_set(ret_fault, STEP_PIVOT, errno, "the host's tree");
    return 0;
}
