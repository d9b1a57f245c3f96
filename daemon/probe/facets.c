/* facets.c - what is measured beneath a rung: each Landlock right, each file system, each
 * controller.
 *
 * None of these backs a claim by itself; they say what the rung's one word leaves out. */
#include "measures.h"

#include "own.h"
#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>

#define FILE_SYSTEMS_MAX 24

static int tell_one(const struct bench *bench, enum rung_id rung, const char *name,
    const void *subject, measure_fn *measure, tell_facet *tell)
{
    struct bench with_subject = *bench;
    struct rung_facet facet = {.rung = rung};

    with_subject.subject = subject;
    (void)snprintf(facet.name, sizeof(facet.name), "%s", name);
    attempt(measure, &with_subject, &facet.found);
    return tell(&facet);
}

static int tell_rights(const struct bench *bench, tell_facet *tell)
{
    int r = 0;

    for (const char *const *name = landlock_right_names; *name && r == 0; name++)
        r = tell_one(bench, RUNG_LANDLOCK, *name, *name, measure_landlock_right, tell);
    return r < 0 ? r
                 : tell_one(bench, RUNG_LANDLOCK, "errata", NULL, measure_landlock_errata, tell);
}

/* ---- file systems ---- */

/* What never holds a file that anyone could grant. */
static bool is_of_the_kernel(const char *type)
{
    static const char *const types[] = {"autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2",
        "configfs", "debugfs", "devpts", "efivarfs", "fusectl", "hugetlbfs", "mqueue", "nsfs",
        "proc", "pstore", "rpc_pipefs", "securityfs", "selinuxfs", "sysfs", "tracefs"};

    for (size_t i = 0; i < array_size(types); i++) {
        if (strcmp(types[i], type) == 0)
            return true;
    }
    return false;
}

struct file_system {
    char type[40];
    char path[256];
};

/* The first mount of each type that is in use. */
static size_t read_file_systems(struct file_system found[FILE_SYSTEMS_MAX])
{
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    struct mntent *entry;
    size_t count = 0;

    if (!mounts)
        return 0;
    while (count < FILE_SYSTEMS_MAX && (entry = getmntent(mounts))) {
        size_t i = 0;

        while (i < count && strncmp(found[i].type, entry->mnt_type, sizeof(found[i].type) - 1) != 0)
            i++;
        if (i < count || is_of_the_kernel(entry->mnt_type) ||
            strlen(entry->mnt_dir) >= sizeof(found[i].path))
            continue;
        (void)snprintf(found[i].type, sizeof(found[i].type), "%s", entry->mnt_type);
        (void)snprintf(found[i].path, sizeof(found[i].path), "%s", entry->mnt_dir);
        count++;
    }
    (void)endmntent(mounts);
    return count;
}

static int tell_file_systems(const struct bench *bench, tell_facet *tell)
{
    struct file_system found[FILE_SYSTEMS_MAX];
    size_t count = read_file_systems(found);
    int r = 0;

    for (size_t i = 0; i < count && r == 0; i++)
        r = tell_one(bench, RUNG_IDMAP, found[i].type, found[i].path, measure_idmap_at, tell);
    return r;
}

static int tell_controllers(const struct bench *bench, tell_facet *tell)
{
    static const char *const names[] = {
        "cpuset", "cpu", "io", "memory", "hugetlb", "pids", "rdma", "misc"};
    int r = 0;

    for (size_t i = 0; i < array_size(names) && r == 0; i++)
        r = tell_one(bench, RUNG_CGROUP2, names[i], names[i], measure_controller, tell);
    return r;
}

int measure_facets(const struct bench *bench, tell_facet *tell)
{
    int r = tell_rights(bench, tell);

    if (r == 0)
        r = tell_file_systems(bench, tell);
    return r == 0 ? tell_controllers(bench, tell) : r;
}
