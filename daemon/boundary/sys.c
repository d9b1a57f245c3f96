/* A container's /sys: made by us, of plain files, and not the kernel's.
 *
 * But for class/net nothing in a sysfs belongs to a namespace: whoever mounts one sees the host's
 * disks, buses, firmware tables, modules and their serial numbers, most of it readable to
 * everybody. A list of what to cover would have to grow with every kernel, and a promise that
 * nothing outside the view can be read could not be kept by it.  What programs look for in /sys is
 * how many cpus they have: that is told, as it is for this leg.
 */
#include "stages.h"

#include "descriptor.h"
#include "own.h"
#include "steps.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define CPUS_MAX 8192 /* what the kernel can be built for */
#define LIST_MAX 4096
#define CPU_FOLDER "sys/devices/system/cpu"

/* "0-3,8\n", in the form of the kernel's cpulist.  One that does not fit is -E2BIG. */
static int format_cpus(const cpu_set_t *cpus, size_t size, char text[LIST_MAX])
{
    size_t at = 0;

    for (size_t i = 0; i < CPUS_MAX; i++) {
        size_t first = i;
        int n;

        if (!CPU_ISSET_S(i, size, cpus))
            continue;
        while (i + 1 < CPUS_MAX && CPU_ISSET_S(i + 1, size, cpus))
            i++;
        n = first == i ? snprintf(text + at, LIST_MAX - at, "%s%zu", at ? "," : "", first)
                       : snprintf(text + at, LIST_MAX - at, "%s%zu-%zu", at ? "," : "", first, i);
        at += (size_t)n;
        if (at + 1 >= LIST_MAX)
            return -E2BIG;
    }
    strcpy(text + at, "\n");
    return 0;
}

static int own_cpus(char text[LIST_MAX])
{
    unsigned long bits[CPUS_MAX / (8 * sizeof(unsigned long))] = {0};
    cpu_set_t *cpus = (cpu_set_t *)(void *)bits;

    if (sched_getaffinity(0, sizeof(bits), cpus) < 0)
        return -errno;
    return format_cpus(cpus, sizeof(bits), text);
}

static int put(int scratch, const char *path, const char *text)
{
    auto_close int fd = -EBADF;

    fd = openat(scratch, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
    return fd < 0 ? -errno : descriptor_write_all(fd, text, strlen(text));
}

int sys_make(int scratch, struct fault *ret_fault)
{
    static const char *const folders[] = {
        "sys", "sys/devices", "sys/devices/system", CPU_FOLDER, "sys/fs", "sys/fs/cgroup"};
    static const char *const files[] = {
        CPU_FOLDER "/online", CPU_FOLDER "/present", CPU_FOLDER "/possible"};
    char cpus[LIST_MAX];
    int r = own_cpus(cpus);

    for (size_t i = 0; r == 0 && i < array_size(folders); i++)
        r = mkdirat(scratch, folders[i], 0555) < 0 ? -errno : 0;
    for (size_t i = 0; r == 0 && i < array_size(files); i++)
        r = put(scratch, files[i], cpus);
    return r < 0 ? fault_set(ret_fault, STEP_MOUNTS, -r, "a /sys of its own") : 0;
}
