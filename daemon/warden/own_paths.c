#include "own_paths.h"

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

static int add(struct own_paths *own, const char *path)
{
    char *real;

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
    return remember(own, real);
}

int own_paths_open(struct warden *warden)
{
    const struct options *options = &warden->options;
    const char *const wanted[] = {options->state, options->socket, options->policy_directory,
        options->libexec, options->config, options->vendors, SAPHAN_SYSCONF "/saphan", "/proc/self/exe"};
    int r = 0;

    for (size_t i = 0; r == 0 && i < array_size(wanted); i++)
        r = add(&warden->own, wanted[i]);
    for (uint32_t i = 0; r == 0 && i < options->n_policies; i++)
        r = add(&warden->own, options->policies[i]);
    return r;
}

bool own_paths_covered(const struct warden *warden, const char *path, uint64_t dev, uint64_t ino)
{
    if (known(&warden->own, dev, ino))
        return true;
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
    warden->own.n_paths = 0;
    warden->own.n_places = 0;
}
