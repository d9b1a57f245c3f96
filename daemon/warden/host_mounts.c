/* host_mounts.c - the mounts of the host that `--view host` shows. */
#include "system_view.h"

#include "mount_table.h"
#include "text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define HOST_MOUNTS_MAX 64

/* The leg has its own of these, or none. */
static const char *const hidden[] = {"/dev", "/proc", "/sys", "/run", "/tmp", "/var/run"};

/* The kernel's own: they cannot be id-mapped, and a leg has no business in them. */
static const char *const kernel_types[] = {"proc", "sysfs", "cgroup", "cgroup2", "devtmpfs",
    "devpts", "mqueue", "debugfs", "tracefs", "securityfs", "bpf", "pstore", "efivarfs", "configfs",
    "fusectl", "hugetlbfs", "binfmt_misc", "rpc_pipefs", "autofs", "nsfs"};

DEFINE_AUTO(DIR *, closedir);

struct host_list {
    struct host_mount *mounts;
    uint32_t count;
};

void host_mounts_free(struct host_mount *mounts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(mounts[i].path);
        close_fd(&mounts[i].fd);
    }
    free(mounts);
}

static bool is_hidden(const char *path)
{
    for (size_t i = 0; i < array_size(hidden); i++) {
        if (text_path_beneath(path, hidden[i]))
            return true;
    }
    return false;
}

static bool is_kernel_type(const char *type)
{
    for (size_t i = 0; i < array_size(kernel_types); i++) {
        if (text_equal(type, kernel_types[i]))
            return true;
    }
    return false;
}

static int add(struct host_list *list, const char *path)
{
    struct host_mount *mount = &list->mounts[list->count];
    int fd;

    for (uint32_t i = 0; i < list->count; i++) {
        if (text_equal(list->mounts[i].path, path))
            return 0;
    }
    if (list->count == HOST_MOUNTS_MAX)
        return -E2BIG;
    fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    mount->path = strdup(path);
    mount->fd = fd;
    list->count++;
    return mount->path ? 0 : -ENOMEM;
}

/* The directories of the root, one mount each: the root itself is the leg's own. */
static int add_top(struct host_list *list)
{
    auto_(closedir) DIR *root = opendir("/");
    struct dirent *entry;

    if (!root)
        return -errno;
    while ((entry = readdir(root))) {
        char path[300];
        int r;

        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof(path), "/%s", entry->d_name);
        if (is_hidden(path))
            continue;
        r = add(list, path);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool lies_in_users_own(const struct mount_table *table, const struct mount_entry *mount)
{
    for (uint32_t i = 0; i < table->count; i++) {
        if (mount_entry_is_users_own(&table->entries[i]) &&
            text_path_beneath(mount->point, table->entries[i].point))
            return true;
    }
    return false;
}

/* What is left out here is hidden from the leg: more is hidden, not less. */
static int add_mounts(struct host_list *list)
{
    struct mount_table table;
    int r = mount_table_read(&table);

    if (r < 0)
        return r;
    for (uint32_t i = 0; r == 0 && i < table.count; i++) {
        const struct mount_entry *mount = &table.entries[i];

        if (!text_path_is_normal(mount->point) || mount->point[1] == '\0' ||
            is_hidden(mount->point) || is_kernel_type(mount->type) ||
            lies_in_users_own(&table, mount))
            continue;
        r = add(list, mount->point);
    }
    mount_table_done(&table);
    return r;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct host_mount *)a)->path, ((const struct host_mount *)b)->path);
}

int host_mounts_read(struct host_mount **ret, uint32_t *ret_count)
{
    struct host_list list = {.mounts = calloc(HOST_MOUNTS_MAX, sizeof(struct host_mount))};
    int r;

    if (!list.mounts)
        return -ENOMEM;
    r = add_top(&list);
    if (r == 0)
        r = add_mounts(&list);
    if (r < 0) {
        host_mounts_free(list.mounts, list.count);
        return r;
    }
    qsort(list.mounts, list.count, sizeof(*list.mounts), by_path);
    *ret = list.mounts;
    *ret_count = list.count;
    return 0;
}
