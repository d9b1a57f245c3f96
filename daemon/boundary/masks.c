#include "stages.h"

#include "mount.h"
#include "own.h"
#include "path.h"
#include "steps.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

/* Of mode 0: what is hidden is refused, not empty.  They stand in the root while the boundary is
 * built, since only what is attached can be copied; their names go before the leg comes. */
#define NOTHING_FILE ".nothing"
#define NOTHING_DIRECTORY ".nowhere"

int mask_prepare(const struct site *site)
{
    if (mknodat(site->root, NOTHING_FILE, S_IFREG, 0) < 0 ||
        mkdirat(site->root, NOTHING_DIRECTORY, 0) < 0)
        return -errno;
    return 0;
}

int mask_finish(const struct site *site)
{
    if (unlinkat(site->root, NOTHING_FILE, 0) < 0 ||
        unlinkat(site->root, NOTHING_DIRECTORY, AT_REMOVEDIR) < 0)
        return -errno;
    return 0;
}

int mask_cover(const struct site *site, int fd)
{
    auto_close int cover = -EBADF;
    struct stat st;
    int r;

    if (fstat(fd, &st) < 0)
        return -errno;
    cover = mount_clone(site->root, S_ISDIR(st.st_mode) ? NOTHING_DIRECTORY : NOTHING_FILE, 0);
    if (cover < 0)
        return cover;
    r = mount_set(cover, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, -EBADF, false);
    return r < 0 ? r : mount_attach(cover, fd, "");
}

/* Where a link leads is what would be read: so links are followed, inside the leg's root. */
static int mask(const struct site *site, const char *path)
{
    auto_close int fd = -EBADF;

    fd = path_open(site->root, path, O_PATH, PATH_IN_ROOT);
    if (fd == -ENOENT || fd == -ENOTDIR)
        return 0; /* there is nothing to hide, and the view cannot grow */
    return fd < 0 ? fd : mask_cover(site, fd);
}

int stage_masks(struct site *site, struct fault *ret_fault)
{
    const struct plan *plan = site->plan;

    for (uint32_t i = 0; i < plan->n_masks; i++) {
        const char *path = plan_text(site->view, plan->masks[i]);
        int r = mask(site, path);

        if (r < 0)
            return fault_set(ret_fault, STEP_MASKS, -r, "%s", path);
    }
    return 0;
}
