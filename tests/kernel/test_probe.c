/* test_probe.c - saphan-probe on this machine, on one that seems older, and on one that lies. */
#include "started.h"

#include "attempt.h"
#include "ground.h"
#include "landlock.h"
#include "measures.h"
#include "messages.h"
#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define MOUNTS_MAX (1024 * 1024)

struct lab {
    int parent; /* the cgroup that this test is in, or -errno */
    int cgroup; /* one beneath it: what the probe is given */
    char name[32];
};

/* ---- asking ---- */

static int children_of(int directory)
{
    DIR *all = fdopendir(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct dirent *entry;
    int n = 0;

    assert_non_null(all);
    while ((entry = readdir(all)))
        n += entry->d_type == DT_DIR && entry->d_name[0] != '.';
    closedir(all);
    return n;
}

static void read_rungs(const struct started *probe, struct rung ret[RUNG_COUNT])
{
    for (uint32_t i = 0; i < RUNG_COUNT; i++) {
        struct seam_message message = started_hear(probe, SEAM_PROBED);
        const struct seam_probed *probed = message.fixed;

        assert_int_equal(probed->rung, i);
        assert_int_equal(message.n_descriptors, 0);
        ret[i] =
            (struct rung){.state = probed->state, .error = probed->error, .value = probed->value};
        (void)snprintf(
            ret[i].detail, sizeof(ret[i].detail), "%s", seam_text(&message, probed->detail));
        seam_message_done(&message);
    }
}

/* What is told beneath the rungs, until the probe ends. */
static void read_facets(const struct started *probe)
{
    uint32_t n = 0;

    for (;;) {
        struct seam_message message;
        int r = seam_receive(probe->channel, &message);

        if (r == -EAGAIN) {
            struct pollfd waiting = {.fd = probe->channel, .events = POLLIN};

            (void)poll(&waiting, 1, 1000);
            continue;
        }
        if (r == SEAM_E_CLOSED)
            break;
        assert_int_equal(r, 0);
        assert_int_equal(message.header.type, SEAM_PROBED);
        assert_non_null(seam_text(&message, ((const struct seam_probed *)message.fixed)->facet));
        n++;
        seam_message_done(&message);
    }
    assert_true(n > 20 && n <= RUNG_FACETS_MAX);
}

/* Measures with CALL answering -ERROR, and sees that nothing is left behind. */
static void measure(int cgroup, int call, int error, struct rung ret[RUNG_COUNT])
{
    char *const argv[] = {(char *)"saphan-probe", NULL};
    char *before = NULL, *after = NULL;
    int children = cgroup < 0 ? 0 : children_of(cgroup);
    struct started probe;

    assert_int_equal(
        descriptor_read_file(AT_FDCWD, "/proc/self/mountinfo", MOUNTS_MAX, &before), 0);
    started_world = (struct started_world){call, error};
    probe = start_with("saphan-probe", argv, cgroup);
    started_world = started_world_as_it_is;
    read_rungs(&probe, ret);
    read_facets(&probe);
    assert_int_equal(started_end(&probe), 0);

    /* Whoever outlives it becomes our child, which only cgroup.kill's crowd may do for a moment. */
    while (waitpid(-1, NULL, 0) > 0)
        continue;
    assert_int_equal(errno, ECHILD);
    assert_int_equal(descriptor_read_file(AT_FDCWD, "/proc/self/mountinfo", MOUNTS_MAX, &after), 0);
    assert_string_equal(before, after);
    free(before);
    free(after);
    if (cgroup >= 0)
        assert_int_equal(children_of(cgroup), children);
}

static int lab_open(void **state)
{
    struct lab *lab = calloc(1, sizeof(*lab));

    assert_non_null(lab);
    /* So that what mounts are left behind can be seen whatever others mount meanwhile. */
    assert_int_equal(unshare(CLONE_NEWNS), 0);
    assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    lab->parent = ground_find();
    lab->cgroup = -EBADF;
    (void)snprintf(lab->name, sizeof(lab->name), "test-probe-%d", getpid());
    if (lab->parent >= 0) {
        assert_int_equal(mkdirat(lab->parent, lab->name, 0755), 0);
        lab->cgroup = openat(lab->parent, lab->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(lab->cgroup >= 0);
    }
    *state = lab;
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

static int lab_close(void **state)
{
    struct lab *lab = *state;

    close_fd(&lab->cgroup);
    if (lab->parent >= 0)
        assert_int_equal(unlinkat(lab->parent, lab->name, AT_REMOVEDIR), 0);
    close_fd(&lab->parent);
    free(lab);
    return 0;
}

/* ---- the tests ---- */

static void every_rung_is_measured(void **state)
{
    /* What any machine has that these tests can run on; the rest is the machine's to have. */
    static const enum rung_id sure[] = {RUNG_SECCOMP, RUNG_SECCOMP_NOTIFY, RUNG_NO_NEW_PRIVS,
        RUNG_CAPABILITIES, RUNG_PIDFD, RUNG_OPENAT2, RUNG_USERNS, RUNG_MOUNTNS, RUNG_PIDNS};
    struct lab *lab = *state;
    struct rung rungs[RUNG_COUNT];

    if (lab->cgroup < 0) {
        print_message("there is no cgroup v2\n");
        assert_false(must_run());
        skip();
    }
    measure(lab->cgroup, -1, 0, rungs);
    for (enum rung_id id = 0; id < RUNG_COUNT; id++) {
        bool here = id < RUNG_SEATBELT || id > RUNG_RESTRICTED_TOKEN; /* else another platform's */

        if ((rungs[id].state == RUNG_NEVER_ASKED) == here || rungs[id].state == RUNG_BROKEN)
            fail_msg("%s: %s", rung_slug(id), rungs[id].detail);
        assert_true(rungs[id].detail[0] != '\0');
    }
    for (size_t i = 0; i < array_size(sure); i++) {
        if (rungs[sure[i]].state != RUNG_HOLDS)
            fail_msg("%s: %s", rung_slug(sure[i]), rungs[sure[i]].detail);
    }
    if (rungs[RUNG_LANDLOCK].state == RUNG_HOLDS)
        assert_int_equal(rungs[RUNG_LANDLOCK].value, landlock_abi());
}

static void without_a_cgroup_none_is_asked(void **state)
{
    struct rung rungs[RUNG_COUNT];

    (void)state;
    measure(-EBADF, -1, 0, rungs);
    for (enum rung_id id = RUNG_CGROUP2; id <= RUNG_CGROUP_CPU; id++)
        assert_int_equal(rungs[id].state, RUNG_NEVER_ASKED);
    assert_int_equal(rungs[RUNG_USERNS].state, RUNG_HOLDS);
}

static void a_directory_that_is_no_cgroup(void **state)
{
    struct rung rungs[RUNG_COUNT];
    int directory = open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)state;
    measure(directory, -1, 0, rungs);
    for (enum rung_id id = RUNG_CGROUP2; id <= RUNG_CGROUP_CPU; id++)
        assert_int_equal(rungs[id].state, RUNG_ABSENT);
    close(directory);
}

/* The rungs FIRST to LAST depend on CALL. */
struct dependence {
    int call;
    enum rung_id first, last;
};

static void assert_none_holds(
    const struct rung *rungs, const struct dependence *on, enum rung_state first)
{
    if (rungs[on->first].state != first)
        fail_msg("%s without call %d: %s", rung_slug(on->first), on->call, rungs[on->first].detail);
    for (enum rung_id id = on->first; id <= on->last; id++) {
        if (rungs[id].state == RUNG_HOLDS || rungs[id].state == RUNG_NEVER_ASKED)
            fail_msg("%s without call %d: %s", rung_slug(id), on->call, rungs[id].detail);
    }
}

/* An older kernel: what depends on the call is absent or cannot be measured, and never holds. */
static void a_call_that_is_not_there(void **state)
{
    static const struct dependence all[] = {
        {SYS_clone3, RUNG_USERNS, RUNG_PROC_MOUNT},
        {SYS_openat2, RUNG_OPENAT2, RUNG_OPENAT2},
        {SYS_landlock_create_ruleset, RUNG_LANDLOCK, RUNG_LANDLOCK_AUDIT},
        {SYS_landlock_restrict_self, RUNG_LANDLOCK, RUNG_LANDLOCK_AUDIT},
        {SYS_seccomp, RUNG_SECCOMP, RUNG_SECCOMP_NOTIFY},
        {SYS_seccomp, RUNG_TIOCSTI, RUNG_TIOCSTI},
        {SYS_mount_setattr, RUNG_IDMAP, RUNG_IDMAP},
        {SYS_pidfd_open, RUNG_PIDFD, RUNG_PIDFD},
        {SYS_capset, RUNG_CAPABILITIES, RUNG_CAPABILITIES},
    };
    struct lab *lab = *state;

    for (size_t i = 0; i < array_size(all); i++) {
        struct rung rungs[RUNG_COUNT];

        measure(lab->cgroup, all[i].call, ENOSYS, rungs);
        assert_none_holds(rungs, &all[i], RUNG_ABSENT);
    }
}

/* A call that says it has raised the wall, and has not: only doing the thing can tell. */
static void a_wall_that_is_none(void **state)
{
    static const struct dependence all[] = {
        {SYS_landlock_restrict_self, RUNG_LANDLOCK, RUNG_LANDLOCK_AUDIT},
        {SYS_seccomp, RUNG_SECCOMP, RUNG_SECCOMP_NOTIFY},
        {SYS_seccomp, RUNG_TIOCSTI, RUNG_TIOCSTI},
        {SYS_mount_setattr, RUNG_IDMAP, RUNG_IDMAP},
        {SYS_capset, RUNG_CAPABILITIES, RUNG_CAPABILITIES},
    };
    /* The ABI from which a kernel has each right, in the order of the rungs. */
    static const int since[] = {1, 2, 3, 4, 5, 6};
    struct lab *lab = *state;
    int abi = landlock_abi();

    for (size_t i = 0; i < array_size(all); i++) {
        struct rung rungs[RUNG_COUNT];
        bool absent = all[i].first == RUNG_LANDLOCK && abi < 1;

        measure(lab->cgroup, all[i].call, 0, rungs);
        assert_none_holds(rungs, &all[i], absent ? RUNG_ABSENT : RUNG_REFUSED);
        if (all[i].first != RUNG_LANDLOCK)
            continue;
        /* What this kernel lacks is said to be lacking, not to be refused.  That it tells no
         * denials only the call that lies would have said. */
        for (enum rung_id id = RUNG_LANDLOCK; id <= RUNG_LANDLOCK_SCOPE; id++) {
            if (abi < since[id - RUNG_LANDLOCK])
                assert_int_equal(rungs[id].state, RUNG_ABSENT);
        }
    }
}

/* What measure_unenclosed() says in LAYERS domains, as root with all capabilities. */
static struct rung in_domains(int layers)
{
    int pair[2], status;
    struct rung rung = {.state = RUNG_NEVER_ASKED};
    pid_t pid;

    assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const struct bench bench = {.null = -EBADF, .cgroup = -EBADF, .program = -EBADF};
        int ruleset = landlock_ruleset(LANDLOCK_FS_MAKE_SOCK, 0, 0);
        bool good = ruleset >= 0;

        for (int i = 0; i < layers; i++)
            good = good && landlock_restrict(ruleset, 0) == 0;
        if (good)
            attempt(measure_unenclosed, &bench, &rung);
        _exit(descriptor_write_all(pair[1], &rung, sizeof(rung)) < 0);
    }
    close(pair[1]);
    assert_int_equal(descriptor_read_all(pair[0], &rung, sizeof(rung)), 0);
    close(pair[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return rung;
}

/* The domains around saphand are counted, also those that would not refuse it a thing. */
static void domains_around_are_counted(void **state)
{
    struct rung outside;

    (void)state;
    if (landlock_abi() < 1) {
        print_message("there is no Landlock\n");
        assert_false(must_run());
        skip();
    }
    outside = in_domains(0);
    if (outside.state == RUNG_BROKEN || outside.state == RUNG_NEVER_ASKED)
        fail_msg("%s", outside.detail);
    for (int layers = 1; layers <= 3; layers++) {
        struct rung rung = in_domains(layers);

        assert_int_equal(rung.state, RUNG_REFUSED);
        assert_int_equal(rung.value, outside.value + layers);
        if (outside.state == RUNG_HOLDS)
            assert_non_null(strstr(rung.detail, "Landlock domain"));
    }
}

static void nobody_listens(void **state)
{
    char *const argv[] = {(char *)"saphan-probe", NULL};
    struct started probe = start_with("saphan-probe", argv, -EBADF);
    int status = started_end(&probe);

    (void)state;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rung_is_measured),
        cmocka_unit_test(without_a_cgroup_none_is_asked),
        cmocka_unit_test(a_directory_that_is_no_cgroup),
        cmocka_unit_test(a_call_that_is_not_there),
        cmocka_unit_test(a_wall_that_is_none),
        cmocka_unit_test(domains_around_are_counted),
        cmocka_unit_test(nobody_listens),
    };
    int skip = without_root_skip("probe");

    return skip ? skip : cmocka_run_group_tests_name("probe", tests, lab_open, lab_close);
}
