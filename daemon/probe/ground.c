#include "ground.h"

#include "clock.h"
#include "descriptor.h"
#include "inside.h"
#include "own.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#define KNOB_MAX 4096
#define EMPTY_MS (INSIDE_CROWD_SECONDS * 1000 + 500) /* longer than any child lives */

static const char *const controller_names[BENCH_CONTROLLERS] = {"pids", "memory", "cpu"};

/* Is WORD one of the words of the knob?  1, 0 or -errno. */
static int knob_lists(int cgroup, const char *knob, const char *word)
{
    auto_free char *text = NULL;
    char *at, *rest = NULL;
    int r;

    r = descriptor_read_file(cgroup, knob, KNOB_MAX, &text);
    if (r < 0)
        return r;
    for (at = strtok_r(text, " \n", &rest); at; at = strtok_r(NULL, " \n", &rest)) {
        if (text_equal(at, word))
            return 1;
    }
    return 0;
}

static int control(int cgroup, char sign, const char *controller)
{
    char word[32];

    (void)snprintf(word, sizeof(word), "%c%s", sign, controller);
    return descriptor_write_knob(cgroup, "cgroup.subtree_control", word);
}

/* 0 when children of PARENT have the controller; it is asked for where it is not given yet. */
static int enable(int parent, const char *controller, bool *ret_by_us)
{
    int r;

    r = knob_lists(parent, "cgroup.controllers", controller);
    if (r <= 0)
        return r < 0 ? r : -ENODEV;
    r = knob_lists(parent, "cgroup.subtree_control", controller);
    if (r != 0)
        return r < 0 ? r : 0;
    r = control(parent, '+', controller);
    *ret_by_us = r == 0;
    return r;
}

static int make(int parent, const char *name)
{
    struct statfs fs;
    int fd;

    if (parent < 0)
        return parent;
    if (fstatfs(parent, &fs) < 0)
        return -errno;
    if (fs.f_type != CGROUP2_SUPER_MAGIC)
        return -ENODEV;
    if (mkdirat(parent, name, 0755) < 0)
        return -errno;
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? -errno : fd;
}

void ground_make(int parent, struct ground *ret, struct bench *bench)
{
    struct ground ground = {.parent = parent};

    (void)snprintf(ground.name, sizeof(ground.name), "probe-%d", getpid());
    bench->cgroup = make(parent, ground.name);
    for (size_t i = 0; i < BENCH_CONTROLLERS; i++)
        bench->controllers[i] = bench->cgroup < 0
                                    ? bench->cgroup
                                    : enable(parent, controller_names[i], &ground.enabled[i]);
    *ret = ground;
}

int ground_wait_empty(int cgroup, int milliseconds)
{
    auto_close int events = openat(cgroup, "cgroup.events", O_RDONLY | O_CLOEXEC);
    uint64_t deadline = clock_monotonic_us() + (uint64_t)milliseconds * 1000;

    if (events < 0)
        return -errno;
    for (;;) {
        struct pollfd change = {.fd = events, .events = POLLPRI};
        char text[256];
        ssize_t n = pread(events, text, sizeof(text) - 1, 0);
        uint64_t now = clock_monotonic_us();

        if (n < 0)
            return -errno;
        text[n] = '\0';
        if (strstr(text, "populated 0"))
            return 0;
        if (now >= deadline)
            return -ETIME;
        (void)poll(&change, 1, (int)((deadline - now + 999) / 1000));
    }
}

void ground_remove(struct ground *ground, struct bench *bench)
{
    if (bench->cgroup >= 0) {
        (void)descriptor_write_knob(bench->cgroup, "cgroup.kill", "1");
        (void)ground_wait_empty(bench->cgroup, EMPTY_MS);
        close_fd(&bench->cgroup);
        (void)unlinkat(ground->parent, ground->name, AT_REMOVEDIR);
    }
    for (size_t i = 0; i < BENCH_CONTROLLERS; i++) {
        if (ground->enabled[i])
            (void)control(ground->parent, '-', controller_names[i]);
    }
    close_fd(&ground->parent);
}

int ground_find(void)
{
    static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    auto_free char *text = NULL, *path = NULL;
    const char *own;
    struct statfs fs;
    int r, fd;

    r = descriptor_read_file(AT_FDCWD, "/proc/self/cgroup", KNOB_MAX, &text);
    if (r < 0)
        return r;
    own = text_starts_with(text, "0::/") ? text : strstr(text, "\n0::/");
    if (!own)
        return -ENODEV;
    own = strchr(own, '/');
    for (size_t i = 0; i < array_size(places) && !path; i++) {
        if (statfs(places[i], &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC)
            path = text_format("%s%.*s", places[i], (int)strcspn(own, "\n"), own);
    }
    if (!path)
        return -ENODEV;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}
