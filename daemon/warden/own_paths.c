#include "own_paths.h"

#include "id_ranges.h"
#include "text.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static bool known(const struct own_paths *own, uint64_t dev, uint64_t ino)
{
    for (uint32_t i = 0; i < own->n_places; i++) {
        if (own->places[i].dev == dev && own->places[i].ino == ino)
            return true;
    }
    return false;
}

/* PATH itself and every directory above it, up to the root. */
static int remember(struct own_paths *own, const char *path)
{
    auto_free char *walk = strdup(path);

    if (!walk)
        return -ENOMEM;
    for (;;) {
        struct statx st;
        char *slash;
        uint64_t dev;

        if (statx(-EBADF, *walk ? walk : "/", 0, STATX_INO, &st) < 0)
            return -errno;
        dev = ((uint64_t)st.stx_dev_major << 32) | st.stx_dev_minor;
        if (!known(own, dev, st.stx_ino)) {
            if (own->n_places == OWN_PLACES_MAX)
                return -E2BIG;
            own->places[own->n_places].dev = dev;
            own->places[own->n_places++].ino = st.stx_ino;
        }
        slash = strrchr(walk, '/');
        if (*walk == '\0' || !slash)
            return 0;
        *slash = '\0';
    }
}

static int find_real(struct own_paths *own, const struct mount_table *table, uint32_t index)
{
    const struct mount_entry *mount;
    struct statx st;

    if (statx(-EBADF, own->paths[index], 0, STATX_MNT_ID, &st) < 0)
        return -errno;
    mount = mount_table_find(table, st.stx_mnt_id);
    if (!mount)
        return -ESTALE;
    own->real[index].device = mount->device;
    own->real[index].path = mount_entry_place(mount, own->paths[index]);
    return own->real[index].path ? 0 : -ENOMEM;
}

static int add(struct own_paths *own, const struct mount_table *table, const char *path)
{
    char *real;
    int r;

    if (!path)
        return 0;
    real = realpath(path, NULL);
    if (!real)
        return errno == ENOENT ? 0 : -errno;
    if (own->n_paths + 1 >= OWN_PATHS_MAX) {
        free(real);
        return -E2BIG;
    }
    own->paths[own->n_paths++] = real;
    r = find_real(own, table, own->n_paths - 1);
    return r < 0 ? r : remember(own, real);
}

int own_paths_open(struct warden *warden)
{
    const struct options *options = &warden->options;
    const char *const wanted[] = {options->state, options->socket, options->policy_directory,
        options->libexec, options->config, options->vendors, (SAPHAN_SYSCONF "/saphan"),
        ID_LOCK_FILE, "/proc/self/exe"};
    struct mount_table table;
    int r = mount_table_read(&table);

    if (r < 0)
        return r;
    for (size_t i = 0; r == 0 && i < array_size(wanted); i++)
        r = add(&warden->own, &table, wanted[i]);
    for (uint32_t i = 0; r == 0 && i < options->n_policies; i++)
        r = add(&warden->own, &table, options->policies[i]);
    mount_table_done(&table);
    return r;
}

/* Is what lies at PATH of DEVICE's file system one of ours, above one, or inside one? */
static bool is_ours(const struct own_paths *own, uint64_t device, const char *path)
{
    for (uint32_t i = 0; i < own->n_paths; i++) {
        if (own->real[i].device == device && (text_path_beneath(path, own->real[i].path) ||
                                                 text_path_beneath(own->real[i].path, path)))
            return true;
    }
    return false;
}

bool own_paths_covered(const struct warden *warden, const struct mount_table *table,
    const struct mount_entry *mount, const char *path, uint64_t dev, uint64_t ino)
{
    auto_free char *place = mount_entry_place(mount, path);

    if (known(&warden->own, dev, ino) || !place || is_ours(&warden->own, mount->device, place))
        return true;
    /* What is mounted below it comes along. */
    for (uint32_t i = 0; i < table->count; i++) {
        if (text_path_beneath(table->entries[i].point, path) &&
            !text_equal(table->entries[i].point, path) &&
            is_ours(&warden->own, table->entries[i].device, table->entries[i].root))
            return true;
    }
    for (uint32_t i = 0; i < warden->own.n_paths; i++) {
        if (text_path_beneath(path, warden->own.paths[i]))
            return true;
    }
    return false;
}

void own_paths_close(struct warden *warden)
{
    for (uint32_t i = 0; i < warden->own.n_paths; i++)
        free(warden->own.paths[i]);
    for (uint32_t i = 0; i < OWN_PATHS_MAX; i++)
        free(warden->own.real[i].path);
    warden->own.n_paths = 0;
    warden->own.n_places = 0;
}
