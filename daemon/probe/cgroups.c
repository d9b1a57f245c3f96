#include "measures.h"

#include "descriptor.h"
#include "ground.h"
#include "inside.h"
#include "own.h"
#include "text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define KNOB_MAX 4096

/* True when there is a cgroup to measure in; else *RET says why not. */
static bool has_ground(const struct bench *bench, struct rung *ret)
{
    if (bench->cgroup >= 0)
        return true;
    if (bench->cgroup == -EBADF)
        *ret =
            (struct rung){.state = RUNG_NEVER_ASKED, .detail = "no cgroup was passed to work in"};
    else
        rung_refused_or_absent(ret, bench->cgroup, ENODEV, "a cgroup v2 of its own");
    return false;
}

static bool has_controller(
    const struct bench *bench, enum bench_controller controller, const char *name, struct rung *ret)
{
    char call[64];

    if (!has_ground(bench, ret))
        return false;
    if (bench->controllers[controller] == 0)
        return true;
    if (bench->controllers[controller] == -ENODEV)
        (void)snprintf(call, sizeof(call), "cgroup.controllers does not list %s", name);
    else
        (void)snprintf(call, sizeof(call), "writing +%s to cgroup.subtree_control", name);
    rung_refused_or_absent(ret, bench->controllers[controller], ENODEV, call);
    return false;
}

/* The name of the cgroup that BENCH works in, as it ends in /proc/PID/cgroup. */
static int ground_path(const struct bench *bench, char **ret_path)
{
    return descriptor_path(bench->cgroup, ret_path);
}

void measure_cgroup2(const struct bench *bench, struct rung *ret)
{
    auto_free char *path = NULL;
    struct rung born, control;
    const char *name;
    int r;

    if (!has_ground(bench, ret))
        return;
    r = ground_path(bench, &path);
    if (r == 0)
        r = inside_ask(bench, 0, -EBADF, "cgroup", "", &control);
    if (r < 0) {
        rung_broken(ret, r, "a child in its parent's cgroup");
        return;
    }
    name = strrchr(path, '/');
    if (strstr(control.detail, name)) {
        rung_broken(ret, 0, "a child born elsewhere is in the cgroup");
        return;
    }
    r = inside_ask(bench, 0, bench->cgroup, "cgroup", "", &born);
    if (r < 0)
        rung_refused_or_absent(ret, r, EINVAL, "clone3(CLONE_INTO_CGROUP)");
    else if (!strstr(born.detail, name))
        rung_breached(ret, "the child was born into another cgroup");
    else
        rung_holds(ret, 0, "a child was born into the cgroup it was meant for");
}

/* Children that have no parent any more come to us, so that none is left a zombie. */
static void reap_all(void)
{
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        continue;
}

void measure_cgroup_kill(const struct bench *bench, struct rung *ret)
{
    struct inside crowd;
    struct rung word;
    int r;

    if (!has_ground(bench, ret))
        return;
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0) {
        rung_broken(ret, -errno, "prctl(PR_SET_CHILD_SUBREAPER)");
        return;
    }
    r = inside_start(bench, 0, bench->cgroup, "crowd", "", &crowd);
    if (r == 0)
        r = inside_hear(&crowd, &word);
    if (r < 0 || word.state != RUNG_HOLDS) {
        rung_broken(ret, r, "four processes in a cgroup");
        return;
    }
    if (ground_wait_empty(bench->cgroup, 0) == 0) {
        rung_broken(ret, 0, "the cgroup is empty before anyone was killed");
        return;
    }
    r = descriptor_write_knob(bench->cgroup, "cgroup.kill", "1");
    if (r < 0) {
        rung_refused_or_absent(ret, r, ENOENT, "writing cgroup.kill");
        return;
    }
    r = ground_wait_empty(bench->cgroup, ATTEMPT_WAIT_MS);
    if (r < 0) {
        rung_breached(ret, "processes are left after cgroup.kill");
        return;
    }
    reap_all();
    rung_holds(ret, 4, "four processes in sessions of their own ended at once");
}

/* Forks in a cgroup with that many tasks allowed.  0 when it went, -errno. */
static int fork_within(const struct bench *bench, const char *tasks)
{
    struct rung word;
    int r;

    r = descriptor_write_knob(bench->cgroup, "pids.max", tasks);
    if (r == 0)
        r = inside_ask(bench, 0, bench->cgroup, "fork", "", &word);
    if (r < 0)
        return r;
    return -word.error;
}

void measure_cgroup_pids(const struct bench *bench, struct rung *ret)
{
    int r;

    if (!has_controller(bench, BENCH_PIDS, "pids", ret))
        return;
    r = fork_within(bench, "max");
    if (r < 0) {
        rung_broken(ret, r, "a fork with pids.max at max");
        return;
    }
    r = fork_within(bench, "1");
    (void)descriptor_write_knob(bench->cgroup, "pids.max", "max");
    if (r == -EAGAIN)
        rung_holds(ret, 0, "with pids.max at 1 the second task got EAGAIN");
    else if (r < 0)
        rung_refused(ret, r, "a fork with pids.max at 1");
    else
        rung_breached(ret, "a second task beside pids.max at 1");
}

static int read_number(int cgroup, const char *knob, unsigned long long *ret_value)
{
    auto_free char *text = NULL;
    int r = descriptor_read_file(cgroup, knob, KNOB_MAX, &text);

    if (r < 0)
        return r;
    return sscanf(text, "%llu", ret_value) == 1 ? 0 : -EINVAL;
}

/* Writes VALUE and reads it back, then puts NORMAL there again.  -EIO: it reads otherwise. */
static int set_and_read(int cgroup, const char *knob, const char *value, const char *normal)
{
    auto_free char *text = NULL;
    int r;

    r = descriptor_write_knob(cgroup, knob, value);
    if (r == 0)
        r = descriptor_read_file(cgroup, knob, KNOB_MAX, &text);
    if (r < 0)
        return r;
    text[strcspn(text, "\n")] = '\0';
    r = descriptor_write_knob(cgroup, knob, normal);
    if (r < 0)
        return r;
    return text_equal(text, value) ? 0 : -EIO;
}

void measure_cgroup_memory(const struct bench *bench, struct rung *ret)
{
    unsigned long long before = 0, after = 0;
    struct inside user;
    struct rung word;
    int r;

    if (!has_controller(bench, BENCH_MEMORY, "memory", ret))
        return;
    r = set_and_read(bench->cgroup, "memory.max", "67108864", "max");
    if (r < 0) {
        rung_refused(ret, r, "writing memory.max");
        return;
    }
    r = read_number(bench->cgroup, "memory.current", &before);
    if (r == 0)
        r = inside_start(bench, 0, bench->cgroup, "memory", "", &user);
    if (r < 0) {
        rung_broken(ret, r, "a process in the cgroup");
        return;
    }
    r = inside_hear(&user, &word);
    if (r == 0)
        r = read_number(bench->cgroup, "memory.current", &after);
    inside_end(&user);
    if (r < 0)
        rung_broken(ret, r, "memory.current");
    else if (before >= INSIDE_MEMORY || after < before + INSIDE_MEMORY / 2)
        rung_breached(ret, "8 MiB in use are not counted in memory.current");
    else
        rung_holds(ret, 0, "memory.max takes a limit; 8 MiB in use are counted");
}

void measure_cgroup_cpu(const struct bench *bench, struct rung *ret)
{
    int r;

    if (!has_controller(bench, BENCH_CPU, "cpu", ret))
        return;
    r = set_and_read(bench->cgroup, "cpu.max", "50000 100000", "max 100000");
    if (r < 0)
        rung_refused(ret, r, "writing cpu.max");
    else
        rung_holds(ret, 0, "cpu.max takes a limit");
}

/* Whether a cgroup beside the legs' has CONTROLLER: listed is what the kernel gives it. */
void measure_controller(const struct bench *bench, struct rung *ret)
{
    auto_free char *text = NULL;
    char *rest = NULL;
    int r;

    if (!has_ground(bench, ret))
        return;
    r = descriptor_read_file(bench->cgroup, "cgroup.controllers", KNOB_MAX, &text);
    if (r < 0) {
        rung_broken(ret, r, "reading cgroup.controllers");
        return;
    }
    for (char *at = strtok_r(text, " \n", &rest); at; at = strtok_r(NULL, " \n", &rest)) {
        if (text_equal(at, bench->subject)) {
            rung_holds(ret, 0, "a cgroup of ours has it");
            return;
        }
    }
    *ret = (struct rung){.state = RUNG_ABSENT, .detail = "a cgroup of ours does not have it"};
}
