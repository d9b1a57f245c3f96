#include "rlimit.h"

#include <errno.h>

int rlimit_lower(__rlimit_resource_t resource, rlim_t value)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) < 0)
        return -errno;
    if (limit.rlim_max > value)
        limit.rlim_max = value;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(resource, &limit) < 0 ? -errno : 0;
}
