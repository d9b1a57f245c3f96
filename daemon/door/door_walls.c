#include "door_walls.h"

#include "enclosure.h"
#include "filters.h"
#include "steps.h"
#include <errno.h>
#include <sys/prctl.h>

#define DESCRIPTORS 2200 /* two a connection, two a duct, and a few */
#define MEMORY (256UL << 20)

int door_enclose(uint32_t uid, int root, struct fault *ret_fault)
{
    int r = 0;

#ifndef SAPHAN_SANITIZED /* whose shadow memory is terabytes of addresses */
    r = enclosure_limit(RLIMIT_AS, MEMORY, ret_fault);
#endif
    if (r == 0 && prctl(PR_SET_NAME, "saphan-door", 0, 0, 0) < 0)
        r = fault_set(ret_fault, STEP_IDENTITY, errno, "name");
    return r < 0 ? r : enclosure_enter(uid, root, DESCRIPTORS, &filter_door, ret_fault);
}
