#include "measures.h"

#include "audit.h"
#include "identity.h"
#include "landlock.h"
#include "mount.h"
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* A tree of its own, a listener of each kind and a process: all outside the domain to come. */
struct scene {
    int root;    /* holds the file "outside" */
    int granted; /* a directory in it, with the file "file" and a directory "below" */
    int beside;  /* another */
    int tcp, abstract;
    struct sockaddr_in tcp_address;
    struct sockaddr_un abstract_address;
    socklen_t abstract_length;
    pid_t stranger;
};

/* An act returns 0 or -errno, and can be done again. */
struct act {
    int (*run)(const struct scene *scene);
    const char *what;
};

/* What is handled, what is granted on `granted` and on `beside`, and which act is then decided. */
struct domain {
    uint64_t fs, net, scoped;
    uint64_t on_granted, on_beside;
    int refusal; /* -errno by which this right is refused */
    struct act allowed;
    struct act denied[2]; /* ends with run == NULL or the array */
};

/* ---- the scene ---- */

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

static int make_tree(struct scene *scene)
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

static int make_tcp_listener(struct scene *scene)
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
static int make_abstract_listener(struct scene *scene)
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

static int make_stranger(struct scene *scene)
{
    scene->stranger = fork();
    if (scene->stranger < 0)
        return -errno;
    if (scene->stranger == 0) {
        for (;;)
            (void)pause();
    }
    return 0;
}

/* ---- the acts ---- */

static int open_and_close(int directory, const char *name, int flags)
{
    auto_close int fd = openat(directory, name, flags | O_CLOEXEC, 0644);

    return fd < 0 ? -errno : 0;
}

static int write_outside(const struct scene *scene)
{
    return open_and_close(scene->root, "outside", O_WRONLY);
}

static int read_outside(const struct scene *scene)
{
    return open_and_close(scene->root, "outside", O_RDONLY);
}

static int write_granted(const struct scene *scene)
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

static int rename_within(const struct scene *scene)
{
    return move_between(scene->granted, "file", scene->granted, "below/file");
}

static int rename_out(const struct scene *scene)
{
    return move_between(scene->granted, "file", scene->beside, "file");
}

static int link_out(const struct scene *scene)
{
    if (linkat(scene->granted, "file", scene->beside, "link", 0) < 0)
        return -errno;
    return unlinkat(scene->beside, "link", 0) < 0 ? -errno : 0;
}

static int truncate_granted(const struct scene *scene)
{
    return open_and_close(scene->granted, "file", O_WRONLY | O_TRUNC);
}

static int truncate_outside(const struct scene *scene)
{
    return open_and_close(scene->root, "outside", O_WRONLY | O_TRUNC);
}

static int resize_outside(const struct scene *scene)
{
    auto_close int fd = openat(scene->root, "outside", O_WRONLY | O_CLOEXEC);

    return fd < 0 || ftruncate(fd, 0) < 0 ? -errno : 0;
}

static int bind_tcp(const struct scene *scene)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)scene;
    return fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof(any)) < 0 ? -errno : 0;
}

static int connect_tcp(const struct scene *scene)
{
    auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return fd < 0 || connect(fd, (const struct sockaddr *)&scene->tcp_address,
                         sizeof(scene->tcp_address)) < 0
               ? -errno
               : 0;
}

/* A device whose ioctl needs no privilege: how much entropy there is. */
static int ioctl_device(const struct scene *scene)
{
    auto_close int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    int bits;

    (void)scene;
    return fd < 0 || ioctl(fd, RNDGETENTCNT, &bits) < 0 ? -errno : 0;
}

static int ioctl_descriptor(const struct scene *scene)
{
    auto_close int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

    (void)scene;
    return fd < 0 || ioctl(fd, FIOCLEX) < 0 ? -errno : 0;
}

static int signal_stranger(const struct scene *scene)
{
    return kill(scene->stranger, 0) < 0 ? -errno : 0; /* signal 0 is only checked, never sent */
}

static int signal_self(const struct scene *scene)
{
    (void)scene;
    return kill(getpid(), 0) < 0 ? -errno : 0;
}

static int connect_abstract(const struct scene *scene)
{
    auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return fd < 0 || connect(fd, (const struct sockaddr *)&scene->abstract_address,
                         scene->abstract_length) < 0
               ? -errno
               : 0;
}

/* ---- the measurement ---- */

static int enter(const struct domain *domain, const struct scene *scene)
{
    auto_close int ruleset = landlock_ruleset(domain->fs, domain->net, domain->scoped);
    int r;

    if (ruleset < 0)
        return ruleset;
    r = domain->on_granted ? landlock_allow_path(ruleset, scene->granted, domain->on_granted) : 0;
    if (r == 0 && domain->on_beside)
        r = landlock_allow_path(ruleset, scene->beside, domain->on_beside);
    if (r == 0)
        r = identity_no_new_privs();
    return r < 0 ? r : landlock_restrict(ruleset, 0);
}

/* True when every denied act of DOMAIN answers with WANTED; else *RET says what came instead. */
static bool all_answer(
    const struct domain *domain, const struct scene *scene, int wanted, struct rung *ret)
{
    for (size_t i = 0; i < array_size(domain->denied) && domain->denied[i].run; i++) {
        int r = domain->denied[i].run(scene);

        if (r == wanted)
            continue;
        if (wanted == 0)
            rung_broken(ret, r, domain->denied[i].what);
        else if (r == 0)
            rung_breached(ret, domain->denied[i].what);
        else
            rung_refused(ret, r, domain->denied[i].what);
        return false;
    }
    return true;
}

/* -EINVAL and -E2BIG are how landlock_create_ruleset(2) says that it does not know a right. */
static void measure_domain(const struct domain *domain, const struct scene *scene, struct rung *ret)
{
    int abi, r;

    abi = landlock_abi();
    if (abi < 0) {
        rung_refused_or_absent(ret, abi, EOPNOTSUPP, "landlock_create_ruleset");
        return;
    }
    if (!all_answer(domain, scene, 0, ret))
        return;
    r = enter(domain, scene);
    if (r < 0) {
        rung_refused_or_absent(ret, r, r == -E2BIG ? E2BIG : EINVAL, "a domain with this right");
        return;
    }
    r = domain->allowed.run(scene);
    if (r < 0) {
        rung_broken(ret, r, domain->allowed.what);
        return;
    }
    if (all_answer(domain, scene, domain->refusal, ret))
        rung_holds(ret, abi, "%s%s%s: refused; outside the domain it goes through",
            domain->denied[0].what, domain->denied[1].run ? ", " : "",
            domain->denied[1].run ? domain->denied[1].what : "");
}

static void measure_in_tree(const struct domain *domain, struct rung *ret)
{
    struct scene scene = {0};
    int r = make_tree(&scene);

    if (r < 0)
        rung_broken(ret, r, "a tree to work in");
    else
        measure_domain(domain, &scene, ret);
}

void measure_landlock(const struct bench *bench, struct rung *ret)
{
    int abi = landlock_abi();
    uint64_t rights = landlock_fs_rights(abi < 1 ? 1 : abi);
    struct domain domain = {
        .fs = rights,
        .on_granted = rights,
        .refusal = -EACCES,
        .allowed = {write_granted, "a write in the grant"},
        .denied = {{write_outside, "a write"}, {read_outside, "a read"}},
    };

    (void)bench;
    measure_in_tree(&domain, ret);
}

void measure_landlock_refer(const struct bench *bench, struct rung *ret)
{
    const uint64_t ordinary = LANDLOCK_FS_MAKE_REG | LANDLOCK_FS_REMOVE_FILE;
    struct domain domain = {
        .fs = ordinary | LANDLOCK_FS_REFER,
        .on_granted = ordinary | LANDLOCK_FS_REFER,
        .on_beside = ordinary,
        .refusal = -EXDEV,
        .allowed = {rename_within, "a rename within the grant"},
        .denied = {{rename_out, "a rename"}, {link_out, "a link to another directory"}},
    };

    (void)bench;
    measure_in_tree(&domain, ret);
}

void measure_landlock_truncate(const struct bench *bench, struct rung *ret)
{
    struct domain domain = {
        .fs = LANDLOCK_FS_TRUNCATE,
        .on_granted = LANDLOCK_FS_TRUNCATE,
        .refusal = -EACCES,
        .allowed = {truncate_granted, "O_TRUNC in the grant"},
        .denied = {{truncate_outside, "O_TRUNC"}, {resize_outside, "ftruncate"}},
    };

    (void)bench;
    measure_in_tree(&domain, ret);
}

void measure_landlock_ioctl(const struct bench *bench, struct rung *ret)
{
    struct domain domain = {
        .fs = LANDLOCK_FS_IOCTL_DEV,
        .refusal = -EACCES,
        .allowed = {ioctl_descriptor, "an ioctl on the descriptor itself"},
        .denied = {{ioctl_device, "an ioctl on a device"}},
    };

    (void)bench;
    measure_in_tree(&domain, ret);
}

void measure_landlock_net(const struct bench *bench, struct rung *ret)
{
    struct scene scene = {0};
    struct domain domain = {
        .net = LANDLOCK_NET_BIND_TCP | LANDLOCK_NET_CONNECT_TCP,
        .refusal = -EACCES,
        .allowed = {signal_self, "a signal"},
        .denied = {{connect_tcp, "a TCP connect"}, {bind_tcp, "a TCP bind"}},
    };
    int r = make_tcp_listener(&scene);

    (void)bench;
    if (r < 0)
        rung_broken(ret, r, "a listener on loopback");
    else
        measure_domain(&domain, &scene, ret);
}

void measure_landlock_scope(const struct bench *bench, struct rung *ret)
{
    struct scene scene = {0};
    struct domain domain = {
        .scoped = LANDLOCK_SCOPED_SIGNAL | LANDLOCK_SCOPED_ABSTRACT_UNIX,
        .refusal = -EPERM,
        .allowed = {signal_self, "a signal to itself"},
        .denied = {{signal_stranger, "a signal to a process outside"},
            {connect_abstract, "an abstract socket outside"}},
    };
    int r = make_abstract_listener(&scene);

    (void)bench;
    if (r == 0)
        r = make_stranger(&scene);
    if (r < 0) {
        rung_broken(ret, r, "a process and a socket outside");
        return;
    }
    measure_domain(&domain, &scene, ret);
    (void)kill(scene.stranger, SIGKILL); /* refused where it should be: its parent's end ends it */
}

/* Enters a domain whose denials are to be told.  0, or -EINVAL: this kernel does not tell. */
static int enter_told(void)
{
    auto_close int ruleset = landlock_ruleset(LANDLOCK_FS_WRITE_FILE, 0, 0);
    int r;

    if (ruleset < 0)
        return ruleset;
    r = identity_no_new_privs();
    return r < 0 ? r : landlock_restrict(ruleset, LANDLOCK_LOG_NEW_EXEC_ON);
}

/* A denial is made, and the kernel's word of it waited for. */
void measure_landlock_audit(const struct bench *bench, struct rung *ret)
{
    auto_close int listener = -EBADF;
    struct scene scene = {0};
    struct stat outside;
    int abi = landlock_abi(), enabled, r;

    (void)bench;
    if (abi < 0) {
        rung_refused_or_absent(ret, abi, EOPNOTSUPP, "landlock_create_ruleset");
        return;
    }
    r = make_tree(&scene);
    if (r == 0)
        r = write_outside(&scene);
    if (r < 0 || fstatat(scene.root, "outside", &outside, 0) < 0) {
        rung_broken(ret, r < 0 ? r : -errno, "a write without the domain");
        return;
    }
    enabled = audit_enabled();
    listener = audit_listen();
    r = enter_told();
    if (r < 0)
        rung_refused_or_absent(ret, r, EINVAL, "landlock_restrict_self(LOG_NEW_EXEC_ON)");
    else if (enabled < 0)
        rung_refused_or_absent(ret, enabled, EPROTONOSUPPORT, "asking the audit system");
    else if (listener < 0)
        rung_refused(ret, listener, "listening to the audit system");
    else if (write_outside(&scene) != -EACCES)
        rung_breached(ret, "a write in the domain");
    else if (!enabled)
        rung_refused(ret, -ENODATA, "the audit system is not enabled");
    else if ((r = audit_hear_denial(listener, outside.st_ino)) < 0)
        rung_refused(ret, r, "the kernel's word of a denial");
    else
        rung_holds(ret, abi, "a write was refused, and the kernel told of it");
}
