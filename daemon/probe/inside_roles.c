#include "inside.h"

#include "descriptor.h"
#include "mount.h"
#include "own.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* What the probe does inside: one role for each thing that is to be seen from there. */

#define CHANNEL 3
#define LEG_UID 1000

static int namespace_name(const char *kind, char *ret_name, size_t size)
{
    auto_free char *path = text_format("/proc/self/ns/%s", kind);
    ssize_t n;

    if (!path)
        return -ENOMEM;
    n = readlink(path, ret_name, size - 1);
    if (n < 0)
        return -errno;
    ret_name[n] = '\0';
    return 0;
}

/* ARGUMENT is the outside's "net:[4026531840]". */
static void in_namespace(const char *argument, struct rung *ret)
{
    char kind[16] = "", name[64];
    int r;

    (void)snprintf(kind, sizeof(kind), "%.*s", (int)strcspn(argument, ":"), argument);
    r = namespace_name(kind, name, sizeof(name));
    if (r < 0)
        rung_broken(ret, r, "reading its own namespace's name");
    else if (text_equal(name, argument))
        rung_breached(ret, "the child is in its parent's namespace");
    else
        rung_holds(ret, 0, "a child in a new %s namespace; its parent is in %s", kind, argument);
}

/* The first one in a new pid namespace is its pid 1. */
static void in_pid_namespace(const char *argument, struct rung *ret)
{
    in_namespace(argument, ret);
    if (ret->state == RUNG_HOLDS && getpid() != 1)
        rung_breached(ret, "the first process of a pid namespace is not its pid 1");
}

static int read_line(const char *path, char line[128])
{
    auto_free char *text = NULL;
    int r = descriptor_read_file(AT_FDCWD, path, 127, &text);

    if (r == 0)
        (void)snprintf(line, 128, "%s", text);
    return r;
}

static void in_user_namespace(const char *argument, struct rung *ret)
{
    char map[2][128];
    int r;

    (void)argument;
    r = read_line("/proc/self/uid_map", map[0]);
    if (r == 0)
        r = read_line("/proc/self/gid_map", map[1]);
    if (r < 0) {
        rung_broken(ret, r, "reading its own id map");
        return;
    }
    for (int i = 0; i < 2; i++) {
        unsigned int inside, outside, count;

        if (sscanf(map[i], "%u %u %u", &inside, &outside, &count) != 3 || inside != 0 ||
            outside != PROBE_ID_BASE || count != 65536) {
            rung_breached(ret, "the id map is not the one that was set");
            return;
        }
    }
    if (getuid() != 0 || getgid() != 0)
        rung_breached(ret, "the child is not root in its own namespace");
    else
        rung_holds(ret, 0, "ids 0-65535 inside are %u and up outside", PROBE_ID_BASE);
}

/* Only loopback: no other interface that is up (some kernels put idle tunnels in every one). */
static void in_net_namespace(const char *argument, struct rung *ret)
{
    auto_close int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct if_nameindex *all = if_nameindex();

    in_namespace(argument, ret);
    if (ret->state != RUNG_HOLDS)
        return;
    if (s < 0 || !all) {
        rung_broken(ret, -errno, "listing the interfaces");
        return;
    }
    for (struct if_nameindex *at = all; at->if_index != 0; at++) {
        struct ifreq request = {0};

        (void)snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", at->if_name);
        if (text_equal(at->if_name, "lo") || ioctl(s, SIOCGIFFLAGS, &request) < 0 ||
            !(request.ifr_flags & IFF_UP))
            continue;
        rung_breached(ret, "an interface other than loopback is up");
        break;
    }
    if_freenameindex(all);
}

static void in_proc(const char *argument, struct rung *ret)
{
    auto_close int mount = mount_new("proc", NULL, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    char self[16];
    ssize_t n;

    (void)argument;
    if (mount < 0) {
        rung_refused(ret, mount, "a fresh proc file system");
        return;
    }
    n = readlinkat(mount, "self", self, sizeof(self) - 1);
    if (n < 0) {
        rung_refused(ret, -errno, "readlinkat(proc, self)");
        return;
    }
    self[n] = '\0';
    if (text_equal(self, "1"))
        rung_holds(ret, 0, "a fresh /proc whose only process is 1");
    else
        rung_breached(ret, "the fresh /proc shows another pid namespace");
}

bool inside_can_fork(int *ret_r)
{
    pid_t pid = fork();

    *ret_r = 0;
    if (pid < 0) {
        *ret_r = -errno;
        return false;
    }
    if (pid == 0)
        _exit(0);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return true;
}

/* As a leg's program: an ordinary uid, RLIMIT_NPROC on it.  It is the first task of its uid. */
static void in_process_limit(const char *argument, struct rung *ret)
{
    struct rlimit limit = {1, 1};
    int r;

    (void)argument;
    if (setresgid(LEG_UID, LEG_UID, LEG_UID) < 0 || setresuid(LEG_UID, LEG_UID, LEG_UID) < 0) {
        rung_broken(ret, -errno, "becoming an ordinary uid");
        return;
    }
    if (!inside_can_fork(&r)) {
        rung_broken(ret, r, "fork without the limit");
        return;
    }
    if (setrlimit(RLIMIT_NPROC, &limit) < 0)
        rung_refused(ret, -errno, "setrlimit(RLIMIT_NPROC)");
    else if (inside_can_fork(&r))
        rung_breached(ret, "a second task beside a limit of 1");
    else if (r == -EAGAIN)
        rung_holds(ret, 0, "with a limit of 1 the second task got EAGAIN");
    else
        rung_refused(ret, r, "fork at the limit");
}

/* Says whether a further task can be made; the outside knows whether it should. */
static void in_fork(const char *argument, struct rung *ret)
{
    int r;

    (void)argument;
    if (inside_can_fork(&r))
        rung_holds(ret, 0, "fork");
    else
        rung_refused(ret, r, "fork");
}

/* Leaves children in sessions of their own, which outlive it; where nobody can end them, they end
 * themselves, later than anyone waits for it. */
static void in_crowd(const char *argument, struct rung *ret)
{
    (void)argument;
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();

        if (pid < 0) {
            rung_broken(ret, -errno, "fork");
            return;
        }
        if (pid > 0)
            continue;
        (void)setsid();
        (void)signal(SIGTERM, SIG_IGN);
        (void)alarm(INSIDE_CROWD_SECONDS);
        for (;;)
            (void)pause();
    }
    rung_holds(ret, 3, "children");
}

/* Uses memory that somebody can count. */
static void in_memory(const char *argument, struct rung *ret)
{
    char *memory = mmap(NULL, INSIDE_MEMORY, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    (void)argument;
    if (memory == MAP_FAILED)
        rung_broken(ret, -errno, "mmap");
    else
        rung_holds(ret, INSIDE_MEMORY, "bytes");
}

/* Says which cgroup it was born into. */
static void in_cgroup(const char *argument, struct rung *ret)
{
    auto_free char *text = NULL;
    const char *line;
    int r;

    (void)argument;
    r = descriptor_read_file(AT_FDCWD, "/proc/self/cgroup", 4096, &text);
    line = r == 0 ? strstr(text, "0::") : NULL;
    if (r < 0 || !line)
        rung_broken(ret, r, "reading its own cgroup");
    else
        rung_holds(ret, 0, "%.*s", (int)strcspn(line, "\n"), line);
}

/* Says its effective uid. */
static void in_euid(const char *argument, struct rung *ret)
{
    (void)argument;
    rung_holds(ret, geteuid(), "euid");
}

int inside_main(const char *role, const char *argument)
{
    static const struct {
        const char *name;
        void (*act)(const char *argument, struct rung *ret);
        bool stays; /* until it is killed, or nobody listens any more */
    } roles[] = {
        {"namespace", in_namespace, false},
        {"pid", in_pid_namespace, false},
        {"user", in_user_namespace, false},
        {"net", in_net_namespace, false},
        {"proc", in_proc, false},
        {"process-limit", in_process_limit, false},
        {"fork", in_fork, false},
        {"cgroup", in_cgroup, true},
        {"crowd", in_crowd, true},
        {"memory", in_memory, true},
        {"euid", in_euid, false},
        {"overlay", in_overlay, false},
    };

    for (size_t i = 0; i < array_size(roles); i++) {
        struct rung word = {.state = RUNG_BROKEN};
        char byte;

        if (!text_equal(roles[i].name, role))
            continue;
        roles[i].act(argument, &word);
        if (descriptor_write_all(CHANNEL, &word, sizeof(word)) < 0)
            return 1;
        if (roles[i].stays)
            (void)!read(CHANNEL, &byte, 1);
        return 0;
    }
    return 2;
}
