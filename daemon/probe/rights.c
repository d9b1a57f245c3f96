/* rights.c - each Landlock right by itself: handled and granted nowhere, its act must be refused,
 * and outside of the domain the same act must go. */
#include "measures.h"

#include "identity.h"
#include "landlock.h"
#include "own.h"
#include "scene.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

/* ---- the acts: each can be done again, and leaves nothing that is in its own way ---- */

static int read_directory(const struct scene *scene)
{
    auto_close int fd = openat(scene->root, "beside", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 ? -errno : 0;
}

static int make_and_remove(const struct scene *scene, mode_t type)
{
    dev_t device = type == S_IFCHR ? makedev(1, 3) : type == S_IFBLK ? makedev(7, 250) : 0;

    if (mknodat(scene->root, "made", type | 0600, device) < 0)
        return -errno;
    return unlinkat(scene->root, "made", 0) < 0 ? -errno : 0;
}

static int make_character(const struct scene *scene)
{
    return make_and_remove(scene, S_IFCHR);
}

static int make_block(const struct scene *scene)
{
    return make_and_remove(scene, S_IFBLK);
}

static int make_regular(const struct scene *scene)
{
    return make_and_remove(scene, S_IFREG);
}

static int make_fifo(const struct scene *scene)
{
    return make_and_remove(scene, S_IFIFO);
}

static int make_socket(const struct scene *scene)
{
    return make_and_remove(scene, S_IFSOCK);
}

static int make_symlink(const struct scene *scene)
{
    if (symlinkat("outside", scene->root, "made") < 0)
        return -errno;
    return unlinkat(scene->root, "made", 0) < 0 ? -errno : 0;
}

static int make_directory(const struct scene *scene)
{
    if (mkdirat(scene->root, "made", 0700) < 0)
        return -errno;
    return unlinkat(scene->root, "made", AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* What is removed is made first; what is left over from a refusal is met again as it is. */
static int remove_directory(const struct scene *scene)
{
    if (mkdirat(scene->root, "gone", 0700) < 0 && errno != EEXIST)
        return -errno;
    return unlinkat(scene->root, "gone", AT_REMOVEDIR) < 0 ? -errno : 0;
}

static int remove_file(const struct scene *scene)
{
    if (mknodat(scene->root, "gone", S_IFREG | 0600, 0) < 0 && errno != EEXIST)
        return -errno;
    return unlinkat(scene->root, "gone", 0) < 0 ? -errno : 0;
}

/* The probe itself, for its version: 0, or what execve(2) answered. */
static int execute(const struct scene *scene)
{
    static char *const argv[] = {(char *)"saphan-probe", (char *)"--version", NULL};
    static char *const no_environment[] = {NULL};
    int status;
    pid_t pid;

    (void)scene;
    pid = attempt_fork();
    if (pid < 0)
        return -errno;
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

        (void)dup2(null, STDOUT_FILENO);
        (void)execve("/proc/self/exe", argv, no_environment);
        _exit(errno);
    }
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return -errno;
    }
    return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

/* A named socket that listens since before the domain: it is outside of it. */
static int connect_named(const struct scene *scene)
{
    static int listener = -EBADF;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)snprintf(
        address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/socket", scene->root);
    if (listener < 0) {
        listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (listener < 0 ||
            bind(listener, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
            listen(listener, 4) < 0)
            return -errno;
    }
    return fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? -errno
                                                                                         : 0;
}

/* ---- the table ---- */

static const struct right {
    const char *name;
    uint64_t fs, net, scoped;
    int refusal;
    int (*act)(const struct scene *scene);
} rights[] = {
    {"execute", LANDLOCK_FS_EXECUTE, 0, 0, -EACCES, execute},
    {"write-file", LANDLOCK_FS_WRITE_FILE, 0, 0, -EACCES, scene_write_outside},
    {"read-file", LANDLOCK_FS_READ_FILE, 0, 0, -EACCES, scene_read_outside},
    {"read-dir", LANDLOCK_FS_READ_DIR, 0, 0, -EACCES, read_directory},
    {"remove-dir", LANDLOCK_FS_REMOVE_DIR, 0, 0, -EACCES, remove_directory},
    {"remove-file", LANDLOCK_FS_REMOVE_FILE, 0, 0, -EACCES, remove_file},
    {"make-char", LANDLOCK_FS_MAKE_CHAR, 0, 0, -EACCES, make_character},
    {"make-dir", LANDLOCK_FS_MAKE_DIR, 0, 0, -EACCES, make_directory},
    {"make-reg", LANDLOCK_FS_MAKE_REG, 0, 0, -EACCES, make_regular},
    {"make-sock", LANDLOCK_FS_MAKE_SOCK, 0, 0, -EACCES, make_socket},
    {"make-fifo", LANDLOCK_FS_MAKE_FIFO, 0, 0, -EACCES, make_fifo},
    {"make-block", LANDLOCK_FS_MAKE_BLOCK, 0, 0, -EACCES, make_block},
    {"make-sym", LANDLOCK_FS_MAKE_SYM, 0, 0, -EACCES, make_symlink},
    {"refer", LANDLOCK_FS_REFER, 0, 0, -EXDEV, scene_rename_out},
    {"truncate", LANDLOCK_FS_TRUNCATE, 0, 0, -EACCES, scene_truncate_outside},
    {"ioctl-dev", LANDLOCK_FS_IOCTL_DEV, 0, 0, -EACCES, scene_ioctl_device},
    {"resolve-unix", LANDLOCK_FS_RESOLVE_UNIX, 0, 0, -EACCES, connect_named},
    {"bind-tcp", 0, LANDLOCK_NET_BIND_TCP, 0, -EACCES, scene_bind_tcp},
    {"connect-tcp", 0, LANDLOCK_NET_CONNECT_TCP, 0, -EACCES, scene_connect_tcp},
    {"abstract-unix", 0, 0, LANDLOCK_SCOPED_ABSTRACT_UNIX, -EPERM, scene_connect_abstract},
    {"signal", 0, 0, LANDLOCK_SCOPED_SIGNAL, -EPERM, scene_signal_stranger},
};

const char *const landlock_right_names[] = {"execute", "write-file", "read-file", "read-dir",
    "remove-dir", "remove-file", "make-char", "make-dir", "make-reg", "make-sock", "make-fifo",
    "make-block", "make-sym", "refer", "truncate", "ioctl-dev", "resolve-unix", "bind-tcp",
    "connect-tcp", "abstract-unix", "signal", NULL};
_Static_assert(array_size(landlock_right_names) == array_size(rights) + 1, "each has its name");

static const struct right *find(const char *name)
{
    for (size_t i = 0; i < array_size(rights); i++) {
        if (strcmp(rights[i].name, name) == 0)
            return &rights[i];
    }
    return NULL;
}

static int make_scene(const struct right *right, struct scene *scene)
{
    int r = scene_make_tree(scene);

    if (r == 0 && right->net)
        r = scene_make_tcp_listener(scene);
    if (r == 0 && right->scoped)
        r = scene_make_abstract_listener(scene);
    return r == 0 && right->scoped ? scene_make_stranger(scene) : r;
}

static int enter(const struct right *right)
{
    auto_close int ruleset = landlock_ruleset(right->fs, right->net, right->scoped);
    int r;

    if (ruleset < 0)
        return ruleset;
    r = identity_no_new_privs();
    return r < 0 ? r : landlock_restrict(ruleset, 0);
}

void measure_landlock_right(const struct bench *bench, struct rung *ret)
{
    const struct right *right = find(bench->subject);
    struct scene scene = {0};
    int r = make_scene(right, &scene);

    if (r < 0) {
        rung_broken(ret, r, "a tree to work in");
        return;
    }
    r = right->act(&scene);
    if (r < 0) {
        rung_broken(ret, r, "the act outside of the domain");
        return;
    }
    r = enter(right);
    if (r == -EINVAL || r == -E2BIG || r == -EOPNOTSUPP) {
        rung_refused_or_absent(ret, r, -r, "a domain with this right");
        return;
    }
    if (r < 0) {
        rung_refused(ret, r, "a domain with this right");
        return;
    }
    r = right->act(&scene);
    if (r == 0)
        rung_breached(ret, "the act in the domain");
    else if (r != right->refusal)
        rung_refused(ret, r, "the act in the domain");
    else
        rung_holds(ret, 0, "refused in the domain, goes outside of it");
}

void measure_landlock_errata(const struct bench *bench, struct rung *ret)
{
    uint32_t errata = landlock_errata();

    (void)bench;
    if (errata == 0)
        *ret = (struct rung){.state = RUNG_ABSENT, .detail = "the kernel tells of none mended"};
    else
        rung_holds(ret, errata, "the kernel says that these are mended: bits 0x%x", errata);
}
