#include "boundary.h"

#include "filters.h"
#include "identity.h"
#include "landlock.h"
#include "own.h"
#include "rlimit.h"
#include "seccomp.h"
#include "steps.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int raise_streams(const struct site *site, struct fault *ret_fault)
{
    sigset_t none;

    for (int fd = 0; fd < 3; fd++) {
        if (dup2(site->streams[fd], fd) < 0)
            return fault_set(ret_fault, STEP_STDIO, errno, "descriptor %d", fd);
    }
    /* A session of its own: no terminal, no signals of somebody's process group. */
    sigemptyset(&none);
    if (setsid() < 0 || sigprocmask(SIG_SETMASK, &none, NULL) < 0)
        return fault_set(ret_fault, STEP_STDIO, errno, "session");
    return 0;
}

static int raise_directory(const struct site *site, struct fault *ret_fault)
{
    const char *directory = plan_text(site->view, site->plan->directory);

    (void)umask(022);
    if (chdir(directory) < 0)
        return fault_set(ret_fault, STEP_DIRECTORY, errno, "%s", directory);
    return 0;
}

/* Where the machine's own bound is lower it bounds the leg already, and more than was asked. */
static int raise_limits(const struct site *site, struct fault *ret_fault)
{
    const struct plan *plan = site->plan;
    int r = rlimit_lower(RLIMIT_CORE, 0);

    if (r < 0)
        return fault_set(ret_fault, STEP_LIMITS, -r, "core");
    /* Counted for the leg's own id in its own user namespace: pid 1, another id, is not among them.
     */
    if (plan->limits.tasks && !plan->tasks_by_controller)
        r = rlimit_lower(RLIMIT_NPROC, plan->limits.tasks);
    return r < 0 ? fault_set(ret_fault, STEP_LIMITS, -r, "tasks") : 0;
}

/* The last of all: what is open for building is closed by the exec, and must not count. */
static int raise_files_limit(const struct site *site, struct fault *ret_fault)
{
    uint64_t files = site->plan->limits.files;
    int r = files ? rlimit_lower(RLIMIT_NOFILE, files) : 0;

    return r < 0 ? fault_set(ret_fault, STEP_LIMITS, -r, "files") : 0;
}

int boundary_bound(const struct plan *plan, struct fault *ret_fault)
{
    int r = identity_bound_to(plan->capabilities);

    return r < 0 ? fault_set(ret_fault, STEP_CAPABILITIES, -r, "bounding set") : 0;
}

static int raise_identity(const struct site *site, struct fault *ret_fault)
{
    const struct plan *plan = site->plan;
    const struct identity identity = {
        .uid = plan->uid, .gid = plan->gid, .groups = plan->groups, .n_groups = plan->n_groups};
    int r = boundary_bound(plan, ret_fault);

    if (r < 0)
        return r;
    r = identity_become(&identity);
    if (r < 0)
        return fault_set(ret_fault, STEP_IDENTITY, -r, "uid %u", plan->uid);
    /* In a container, what its policy lists; over what the leg's own user namespace owns. */
    r = plan->capabilities ? identity_hold(plan->capabilities) : identity_drop();
    if (r < 0)
        return fault_set(ret_fault, STEP_CAPABILITIES, -r, "all sets");
    r = identity_no_new_privs();
    return r < 0 ? fault_set(ret_fault, STEP_NO_NEW_PRIVS, -r, "no_new_privs") : 0;
}

static int raise_walls(const struct site *site, int *ret_listener, struct fault *ret_fault)
{
    int r = 0;

    /* A container has no domain: what stands around it is a root of its own. */
    if (site->plan->boundary != BOUNDARY_CONTAINER)
        r = landlock_restrict(site->ruleset, site->plan->landlock_flags);
    if (r < 0)
        return fault_set(ret_fault, STEP_LANDLOCK, -r, "restrict");
    if (site->plan->landlock_net != 0 && site->plan->boundary != BOUNDARY_CONTAINER)
        r = seccomp_install(&filter_tcp);
    if (r < 0)
        return fault_set(ret_fault, STEP_SECCOMP, -r, "filter of TCP");
    /* A leg that may build a sandbox of its own: the calls for it pass, and nobody needs to be
     * told. */
    r = site->plan->nested_allowed ? seccomp_install(&filter_nested)
                                   : seccomp_install_listener(&filter_leg);
    if (r < 0)
        return fault_set(ret_fault, STEP_SECCOMP, -r, "filter");
    *ret_listener = site->plan->nested_allowed ? -EBADF : r;
    return 0;
}

int boundary_raise(struct site *site, int *ret_listener, struct fault *ret_fault)
{
    int r = raise_streams(site, ret_fault);

    if (r == 0)
        r = raise_directory(site, ret_fault);
    if (r == 0)
        r = raise_limits(site, ret_fault);
    if (r == 0)
        r = raise_identity(site, ret_fault);
    if (r == 0)
        r = raise_walls(site, ret_listener, ret_fault);
    return r == 0 ? raise_files_limit(site, ret_fault) : r;
}

/* As real, effective and saved id pid 1 is nobody, so that no process of the leg may signal it,
 * trace it or set its limits.  Only as to files it is the leg: the kernel shows the exe of a
 * process to its own user alone, and pid 1 has to name who called. */
static int become_pid1(uint32_t uid, uint32_t gid)
{
    const struct identity nobody = {.uid = BOUNDARY_PID1_ID, .gid = BOUNDARY_PID1_ID};
    int r = identity_bound();

    if (r == 0)
        r = identity_become(&nobody);
    if (r < 0)
        return r;
    (void)syscall(SYS_setfsgid, gid);
    (void)syscall(SYS_setfsuid, uid);
    /* These two report the id before, not an error: ask once more. */
    if ((uint32_t)syscall(SYS_setfsgid, -1) != gid || (uint32_t)syscall(SYS_setfsuid, -1) != uid)
        return -EPERM;
    return identity_drop();
}

int boundary_retire(uint32_t uid, uint32_t gid, struct fault *ret_fault)
{
    int r = become_pid1(uid, gid);

    if (r < 0)
        return fault_set(ret_fault, STEP_IDENTITY, -r, "pid 1");
    r = identity_no_new_privs();
    if (r < 0)
        return fault_set(ret_fault, STEP_NO_NEW_PRIVS, -r, "pid 1");
    /* A change of identity cleared both; the daemon's end must still be the leg's. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return fault_set(ret_fault, STEP_CAPABILITIES, errno, "pid 1");
    r = seccomp_install(&filter_pid1);
    return r < 0 ? fault_set(ret_fault, STEP_SECCOMP, -r, "pid 1") : 0;
}
