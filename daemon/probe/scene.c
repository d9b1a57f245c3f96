#include "scene.h"

#include "attempt.h"
#include "mount.h"
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

static int make_directory(int parent, const char *name)
{
    int fd;

    if (mkdirat(parent, name, 0755) < 0)
        return -errno;
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int make_file(int parent, const char *name)
{
    auto_close int fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    return fd < 0 ? -errno : 0;
}

int scene_make_tree(struct scene *scene)
{
    int r;

    scene->root = mount_new("tmpfs", NULL, 0);
    if (scene->root < 0)
        return scene->root;
    scene->granted = make_directory(scene->root, "granted");
    if (scene->granted < 0)
        return scene->granted;
    scene->beside = make_directory(scene->root, "beside");
    if (scene->beside < 0)
        return scene->beside;
    if (mkdirat(scene->granted, "below", 0755) < 0)
        return -errno;
    r = make_file(scene->root, "outside");
    return r < 0 ? r : make_file(scene->granted, "file");
}

int scene_make_tcp_listener(struct scene *scene)
{
    socklen_t length = sizeof(scene->tcp_address);

    scene->tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    scene->tcp_address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (scene->tcp < 0 || bind(scene->tcp, (struct sockaddr *)&scene->tcp_address, length) < 0 ||
        listen(scene->tcp, 4) < 0 ||
        getsockname(scene->tcp, (struct sockaddr *)&scene->tcp_address, &length) < 0)
        return -errno;
    return 0;
}

/* Autobind (unix(7)) picks a name that nobody has. */
int scene_make_abstract_listener(struct scene *scene)
{
    sa_family_t family = AF_UNIX;

    scene->abstract = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    scene->abstract_length = sizeof(scene->abstract_address);
    if (scene->abstract < 0 ||
        bind(scene->abstract, (struct sockaddr *)&family, sizeof(family)) < 0 ||
        listen(scene->abstract, 4) < 0 ||
        getsockname(scene->abstract, (struct sockaddr *)&scene->abstract_address,
            &scene->abstract_length) < 0)
        return -errno;
    return 0;
}

/* It ends when the pipe does, that is, with us: a death signal would be scoped away as any other.
 */
int scene_make_stranger(struct scene *scene)
{
    int ends[2];
    char byte;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    scene->stranger = attempt_fork();
    if (scene->stranger < 0) {
        int error = errno;

        close(ends[0]);
        close(ends[1]);
        return -error;
    }
    if (scene->stranger == 0) {
        close(ends[1]);
        (void)!read(ends[0], &byte, 1);
        _exit(0);
    }
    close(ends[0]); /* the other end stays open for as long as we live */
    return 0;
}

/* ---- the acts ---- */

static int open_and_close(int directory, const char *name, int flags)
{
    auto_close int fd = openat(directory, name, flags | O_CLOEXEC, 0644);

    return fd < 0 ? -errno : 0;
}

int scene_write_outside(const struct scene *scene)
{
    return open_and_close(scene->root, "outside", O_WRONLY);
}

int scene_read_outside(const struct scene *scene)
{
    return open_and_close(scene->root, "outside", O_RDONLY);
}

int scene_write_granted(const struct scene *scene)
{
    return open_and_close(scene->granted, "file", O_WRONLY | O_TRUNC);
}

/* There and back again. */
static int move_between(int a, const char *name, int b, const char *other)
{
    if (renameat(a, name, b, other) < 0)
        return -errno;
    return renameat(b, other, a, name) < 0 ? -errno : 0;
}

int scene_rename_within(const struct scene *scene)
{
    return move_between(scene->granted, "file", scene->granted, "below/file");
}

int scene_rename_out(const struct scene *scene)
{
    return move_between(scene->granted, "file", scene->beside, "file");
}

int scene_link_out(const struct scene *scene)
{
    if (linkat(scene->granted, "file", scene->beside, "link", 0) < 0)
        return -errno;
    return unlinkat(scene->beside, "link", 0) < 0 ? -errno : 0;
}

int scene_truncate_granted(const struct scene *scene)
{
    return open_and_close(scene->granted, "file", O_WRONLY | O_TRUNC);
}

int scene_truncate_outside(const struct scene *scene)
{
    return open_and_close(scene->root, "outside", O_WRONLY | O_TRUNC);
}

int scene_resize_outside(const struct scene *scene)
{
    auto_close int fd = openat(scene->root, "outside", O_WRONLY | O_CLOEXEC);

    return fd < 0 || ftruncate(fd, 0) < 0 ? -errno : 0;
}

int scene_bind_tcp(const struct scene *scene)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)scene;
    return fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof(any)) < 0 ? -errno : 0;
}

int scene_connect_tcp(const struct scene *scene)
{
    auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return fd < 0 || connect(fd, (const struct sockaddr *)&scene->tcp_address,
                         sizeof(scene->tcp_address)) < 0
               ? -errno
               : 0;
}

/* A device whose ioctl needs no privilege: how much entropy there is. */
int scene_ioctl_device(const struct scene *scene)
{
    auto_close int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    int bits;

    (void)scene;
    return fd < 0 || ioctl(fd, RNDGETENTCNT, &bits) < 0 ? -errno : 0;
}

int scene_ioctl_descriptor(const struct scene *scene)
{
    auto_close int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

    (void)scene;
    return fd < 0 || ioctl(fd, FIOCLEX) < 0 ? -errno : 0;
}

int scene_signal_stranger(const struct scene *scene)
{
    return kill(scene->stranger, 0) < 0 ? -errno : 0; /* signal 0 is only checked, never sent */
}

int scene_signal_self(const struct scene *scene)
{
    (void)scene;
    return kill(getpid(), 0) < 0 ? -errno : 0;
}

int scene_connect_abstract(const struct scene *scene)
{
    auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return fd < 0 || connect(fd, (const struct sockaddr *)&scene->abstract_address,
                         scene->abstract_length) < 0
               ? -errno
               : 0;
}
