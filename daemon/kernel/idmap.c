#include "idmap.h"

#include "descriptor.h"
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define STACK_SIZE (64U * 1024U)

/* Lives in our memory, on a stack of its own, with every signal blocked: it makes two calls and
 * waits to be killed. */
static int stand(void *context)
{
    (void)syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    while (syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0) < 0)
        continue;
    return 0;
}

static int write_map(
    int proc, const char *file, const struct idmap_extent *extents, size_t n_extents)
{
    char text[IDMAP_EXTENTS_MAX * 36];
    size_t at = 0;

    if (n_extents == 0 || n_extents > IDMAP_EXTENTS_MAX)
        return -EINVAL;
    for (size_t i = 0; i < n_extents; i++)
        at +=
            (size_t)snprintf(text + at, sizeof(text) - at, "%" PRIu32 " %" PRIu32 " %" PRIu32 "\n",
                extents[i].inside, extents[i].outside, extents[i].count);
    return descriptor_write_knob(proc, file, text);
}

static int map(pid_t pid, const struct idmap_extent *uids, size_t n_uids,
    const struct idmap_extent *gids, size_t n_gids)
{
    auto_close int proc = -EBADF;
    char path[32];
    int user_namespace, r;

    (void)snprintf(path, sizeof(path), "/proc/%d", pid);
    proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0)
        return -errno;
    r = write_map(proc, "uid_map", uids, n_uids);
    if (r == 0)
        r = write_map(proc, "gid_map", gids, n_gids);
    if (r < 0)
        return r;
    user_namespace = openat(proc, "ns/user", O_RDONLY | O_CLOEXEC);
    return user_namespace < 0 ? -errno : user_namespace;
}

static void bury(pid_t pid)
{
    (void)kill(pid, SIGKILL); /* ours and not reaped: the number is still its */
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

int idmap_namespace(
    const struct idmap_extent *uids, size_t n_uids, const struct idmap_extent *gids, size_t n_gids)
{
    char *stack = mmap(
        NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    sigset_t all, before;
    int error, r;
    pid_t pid;

    if (stack == MAP_FAILED)
        return -errno;
    sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    pid = clone(stand, stack + STACK_SIZE, CLONE_VM | CLONE_NEWUSER | SIGCHLD, NULL);
    error = errno;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    if (pid < 0) {
        r = -error;
    } else {
        r = map(pid, uids, n_uids, gids, n_gids);
        bury(pid);
    }
    (void)munmap(stack, STACK_SIZE);
    return r;
}

static void add(
    struct idmap_extent *extents, size_t *n, uint32_t inside, uint32_t outside, uint32_t count)
{
    if (count > 0)
        extents[(*n)++] = (struct idmap_extent){inside, outside, count};
}

size_t idmap_swapped(
    uint32_t a, uint32_t b, uint32_t base, uint32_t count, struct idmap_extent *extents)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    size_t n = 0;

    if (low == high || high >= count) {
        add(extents, &n, 0, base, count);
        return n;
    }
    add(extents, &n, 0, base, low);
    add(extents, &n, low, base + high, 1);
    add(extents, &n, low + 1, base + low + 1, high - low - 1);
    add(extents, &n, high, base + low, 1);
    add(extents, &n, high + 1, base + high + 1, count - high - 1);
    return n;
}
