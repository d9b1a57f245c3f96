/* saphan-probe - measures the rungs of this machine.
 *
 * Usage: saphan-probe: descriptor 3 = its seam channel, 4 = the cgroup v2 directory to work in.
 *        saphan-probe --print: the same for people, by hand, as root.
 *
 * What it should do: find out what this kernel, as it is configured and confined here, really
 * enforces.  Each rung is measured by doing the thing with the product's own code, beside a control
 * without the wall where the same act succeeds; nothing is inferred from a version number.  A wall
 * that is there by name and lets the act through does not hold.
 *
 * What it must not: change the machine.  What it makes (namespaces, mounts, a cgroup, processes)
 * is its own and ends with it; it never changes the state of the audit system, and puts back the
 * controllers that it had to ask for.
 *
 * What an attacker who owns it gains: it runs as root and reads nothing from outside but the
 * kernel's own files, so there is no way in.  The warden believes its words; that is why it is
 * started by the warden alone, from the warden's own directory.
 */
#include "attempt.h"
#include "fault.h"
#include "ground.h"
#include "inside.h"
#include "log.h"
#include "measures.h"
#include "messages.h"
#include "own.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#define CHANNEL 3
#define CGROUP 4

static measure_fn *const measures[RUNG_COUNT] = {
    [RUNG_USERNS] = measure_userns,
    [RUNG_MOUNTNS] = measure_mountns,
    [RUNG_PIDNS] = measure_pidns,
    [RUNG_NETNS] = measure_netns,
    [RUNG_IPCNS] = measure_ipcns,
    [RUNG_UTSNS] = measure_utsns,
    [RUNG_CGROUPNS] = measure_cgroupns,
    [RUNG_IDMAP] = measure_idmap,
    [RUNG_PROC_MOUNT] = measure_proc_mount,
    [RUNG_LANDLOCK] = measure_landlock,
    [RUNG_LANDLOCK_REFER] = measure_landlock_refer,
    [RUNG_LANDLOCK_TRUNCATE] = measure_landlock_truncate,
    [RUNG_LANDLOCK_NET] = measure_landlock_net,
    [RUNG_LANDLOCK_IOCTL] = measure_landlock_ioctl,
    [RUNG_LANDLOCK_SCOPE] = measure_landlock_scope,
    [RUNG_LANDLOCK_AUDIT] = measure_landlock_audit,
    [RUNG_SECCOMP] = measure_seccomp,
    [RUNG_SECCOMP_NOTIFY] = measure_seccomp_notify,
    [RUNG_NO_NEW_PRIVS] = measure_no_new_privs,
    [RUNG_CAPABILITIES] = measure_capabilities,
    [RUNG_CGROUP2] = measure_cgroup2,
    [RUNG_CGROUP_KILL] = measure_cgroup_kill,
    [RUNG_CGROUP_PIDS] = measure_cgroup_pids,
    [RUNG_CGROUP_MEMORY] = measure_cgroup_memory,
    [RUNG_CGROUP_CPU] = measure_cgroup_cpu,
    [RUNG_RLIMIT_NPROC] = measure_rlimit_nproc,
    [RUNG_PIDFD] = measure_pidfd,
    [RUNG_OPENAT2] = measure_openat2,
    [RUNG_TIOCSTI] = measure_tiocsti,
    [RUNG_SEPARATE_UID] = measure_separate_uid,
    [RUNG_CGROUP_BPF] = measure_cgroup_bpf,
    [RUNG_BPF_LSM] = measure_bpf_lsm,
    [RUNG_UNENCLOSED] = measure_unenclosed,
    [RUNG_OVERLAY] = measure_overlay,
};

static int tell_as(enum rung_id id, const struct rung *rung, const char *facet)
{
    struct seam_probed probed = {
        .rung = id, .state = rung->state, .error = rung->error, .value = rung->value};
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, SEAM_PROBED, 0);
    probed.detail = seam_put_text(&writer, rung->detail);
    probed.facet = seam_put_text(&writer, facet);
    r = seam_send(CHANNEL, &writer, &probed, NULL, 0);
    seam_writer_done(&writer);
    return r;
}

static int tell(enum rung_id id, const struct rung *rung)
{
    return tell_as(id, rung, NULL);
}

static int tell_found(const struct rung_facet *facet)
{
    return tell_as(facet->rung, &facet->found, facet->name);
}

static int print(enum rung_id id, const struct rung *rung)
{
    return printf("%-18s %-11s %s\n", rung_slug(id), rung_state_name(rung->state), rung->detail) < 0
               ? -EIO
               : 0;
}

static int print_found(const struct rung_facet *facet)
{
    return printf("%-18s %-11s %s: %s\n", rung_slug(facet->rung),
               rung_state_name(facet->found.state), facet->name, facet->found.detail) < 0
               ? -EIO
               : 0;
}

static int measure_all(const struct bench *bench, int (*say)(enum rung_id, const struct rung *))
{
    int r = 0;

    for (enum rung_id id = 0; id < RUNG_COUNT && r == 0; id++) {
        struct rung rung = {.state = RUNG_NEVER_ASKED, .detail = "another platform's"};

        if (measures[id])
            attempt(measures[id], bench, &rung);
        r = say(id, &rung);
    }
    return r;
}

static int open_bench(struct bench *ret)
{
    struct bench bench = {.null = -EBADF, .cgroup = -EBADF};

    bench.program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (bench.program < 0)
        return -errno;
    bench.null = open("/dev/null", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (bench.null < 0) {
        int error = errno;

        close(bench.program);
        return -error;
    }
    *ret = bench;
    return 0;
}

/* What the warden passed, or -EBADF. */
static int passed_cgroup(void)
{
    int fd = fcntl(CGROUP, F_DUPFD_CLOEXEC, 0);

    return fd < 0 ? -errno : fd;
}

static int probe(bool for_people)
{
    struct ground ground;
    struct bench bench;
    int cgroup, r;

    if (!for_people && fcntl(CHANNEL, F_SETFD, FD_CLOEXEC) < 0)
        return -errno;
    cgroup =
        for_people ? ground_find() : passed_cgroup(); /* before anything else is descriptor 4 */
    r = open_bench(&bench);
    if (r < 0) {
        close_fd(&cgroup);
        return r;
    }
    ground_make(cgroup, &ground, &bench);
    r = measure_all(&bench, for_people ? print : tell);
    if (r == 0)
        r = measure_facets(&bench, for_people ? print_found : tell_found);
    ground_remove(&ground, &bench);
    close(bench.program);
    close(bench.null);
    return r;
}

int main(int argc, char **argv)
{
    bool for_people = argc == 2 && text_equal(argv[1], "--print");
    int r;

    log_open("saphan-probe", LOG_LEVEL_INFO);
    if (argc == 2 && text_equal(argv[1], "--version")) {
        (void)puts("saphan-probe " SAPHAN_VERSION);
        return 0;
    }
    if (argc == 4 && text_equal(argv[1], "--inside"))
        return inside_main(argv[2], argv[3]);
    if (argc != 1 && !for_people) {
        log_error("usage: saphan-probe [--print]");
        return 2;
    }
    r = probe(for_people);
    if (r != 0)
        log_error("%s", r < 0 ? fault_errno_name(-r) : "the channel is closed");
    return r != 0;
}
