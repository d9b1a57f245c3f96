#include "warden_play.h"

#include "clock.h"
#include "kept.h"
#include "landlock.h"
#include "mount.h"
#include "namespace.h"
#include "own.h"
#include "text.h"
#include "zygote_play.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#define ID_BASE 0x7e000000U
#define NAMESPACES                                                                                 \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

struct stage {
    const struct play *play;
    struct outcome *outcome;
    struct namespace_child child;
    int channel, output, kept;
    uint64_t spawned_us, waited_us; /* CLOCK_MONOTONIC */
    struct plan_writer writer;
    int descriptors[SEAM_DESCRIPTORS_MAX];
    uint32_t n_descriptors;
    uint32_t mount_index[8]; /* of the play's mounts in the plan */
};

static uint32_t give(struct stage *stage, int fd)
{
    stage->descriptors[stage->n_descriptors] = fd;
    return stage->n_descriptors++;
}

static int add(struct stage *stage, int mount, uint32_t kind, const char *target, bool directory)
{
    struct plan *plan = &stage->writer.plan;

    plan->mounts[plan->n_mounts++] = (struct plan_mount){.kind = kind,
        .descriptor = give(stage, mount),
        .directory = directory,
        .grant = UINT32_MAX,
        .target = seam_put_text(&stage->writer.strings, target)};
    return 0;
}

static int add_path(
    struct stage *stage, const char *path, const char *target, uint32_t kind, bool writable)
{
    uint64_t attrs = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_IDMAP |
                     (writable ? 0 : MOUNT_ATTR_RDONLY);
    struct stat st;
    int mount, r;

    if (stat(path, &st) < 0)
        return -errno;
    mount = mount_clone(AT_FDCWD, path, AT_RECURSIVE);
    if (mount < 0)
        return mount;
    r = mount_set(mount, attrs, stage->child.user_namespace, true);
    if (r < 0) {
        close(mount);
        return r;
    }
    return add(stage, mount, kind, target ? target : path, S_ISDIR(st.st_mode));
}

static int add_devices(struct stage *stage)
{
    static const struct {
        const char *name;
        unsigned int major, minor;
    } nodes[] = {{"null", 1, 3}, {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8},
        {"urandom", 1, 9}, {"tty", 5, 0}};
    static const char *const links[][2] = {{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"},
        {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"}, {"ptmx", "pts/ptmx"}};
    static const char *const options[] = {"mode", "0755", NULL};
    int mount = mount_new("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);

    if (mount < 0)
        return mount;
    for (size_t i = 0; i < array_size(nodes); i++) {
        if (mknodat(mount, nodes[i].name, S_IFCHR | 0666, makedev(nodes[i].major, nodes[i].minor)) <
                0 ||
            fchmodat(mount, nodes[i].name, 0666, 0) < 0)
            return -errno;
    }
    for (size_t i = 0; i < array_size(links); i++) {
        if (symlinkat(links[i][1], mount, links[i][0]) < 0)
            return -errno;
    }
    if (mkdirat(mount, "pts", 0755) < 0 || mkdirat(mount, "shm", 0755) < 0)
        return -errno;
    /* Kernels before 6.3 cannot id-map a tmpfs; its nodes serve without, too. */
    if (mount_set(mount, MOUNT_ATTR_RDONLY | MOUNT_ATTR_IDMAP, stage->child.user_namespace, false) <
            0 &&
        mount_set(mount, MOUNT_ATTR_RDONLY, -EBADF, false) < 0)
        return -errno;
    return add(stage, mount, PLAN_MOUNT_DEV, "/dev", true);
}

static int add_system(struct stage *stage)
{
    static const char *const links[] = {"/bin", "/sbin", "/lib", "/lib64"};
    struct plan *plan = &stage->writer.plan;
    int r = add_path(stage, "/usr", NULL, PLAN_MOUNT_SYSTEM, false);

    if (r == 0)
        r = add_path(stage, "/etc", NULL, PLAN_MOUNT_SYSTEM, false);
    for (size_t i = 0; r == 0 && i < array_size(links); i++) {
        char target[256];
        ssize_t n = readlink(links[i], target, sizeof(target) - 1);

        if (n < 0 && errno == EINVAL) { /* a directory here, not a link */
            r = add_path(stage, links[i], NULL, PLAN_MOUNT_SYSTEM, false);
            continue;
        }
        if (n < 0)
            continue;
        target[n] = '\0';
        plan->symlinks[plan->n_symlinks].path = seam_put_text(&stage->writer.strings, links[i]);
        plan->symlinks[plan->n_symlinks++].target = seam_put_text(&stage->writer.strings, target);
    }
    return r == 0 ? add_devices(stage) : r;
}

/* As the image store would hand them over, but for whose they are: root's, not the store's. */
static int add_layers(struct stage *stage)
{
    const struct play *play = stage->play;
    struct plan *plan = &stage->writer.plan;

    for (size_t i = 0; i < array_size(play->layers) && play->layers[i]; i++) {
        int mount = mount_clone(AT_FDCWD, play->layers[i], 0);
        int r =
            mount < 0
                ? mount
                : mount_set(mount,
                      MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_IDMAP | MOUNT_ATTR_RDONLY,
                      stage->child.user_namespace, false);

        if (r < 0)
            return r;
        plan->layers[plan->n_layers++] = give(stage, mount);
    }
    plan->boundary = play->wrong_boundary ? BOUNDARY_DOMAIN : BOUNDARY_CONTAINER;
    plan->writable_root = play->writable_root;
    plan->nested_allowed = play->nested_allowed;
    plan->capabilities = play->capabilities;
    plan->host_name = seam_put_text(&stage->writer.strings, play->host_name);
    return add_devices(stage);
}

static int add_grants(struct stage *stage)
{
    const struct play *play = stage->play;
    struct plan *plan = &stage->writer.plan;

    for (size_t i = 0; i < array_size(play->mounts) && play->mounts[i].path; i++) {
        const struct play_mount *mount = &play->mounts[i];
        bool writable = (mount->kind == PLAN_MOUNT_WRITE) != mount->other_mount;
        int r;

        stage->mount_index[i] = plan->n_mounts;
        r = add_path(stage, mount->path, mount->target, mount->kind, writable);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < array_size(play->carve_outs) && play->carve_outs[i].path; i++)
        plan->carve_outs[plan->n_carve_outs++] =
            (struct plan_carve_out){.kind = play->carve_outs[i].kind,
                .mount = stage->mount_index[play->carve_outs[i].mount],
                .path = seam_put_text(&stage->writer.strings, play->carve_outs[i].path)};
    for (size_t i = 0; i < array_size(play->masks) && play->masks[i]; i++)
        plan->masks[plan->n_masks++] = seam_put_text(&stage->writer.strings, play->masks[i]);
    return 0;
}

static int add_streams(struct stage *stage)
{
    struct plan *plan = &stage->writer.plan;
    int pair[2];

    for (size_t i = 0; i < 3; i++)
        plan->streams[i].descriptor = -1;
    if (stage->play->stdin_fd > 0) {
        plan->streams[0].mode = STREAM_DESCRIPTOR;
        plan->streams[0].descriptor =
            (int32_t)give(stage, fcntl(stage->play->stdin_fd, F_DUPFD_CLOEXEC, 3));
    }
    if (stage->play->stdout_mode == STREAM_KEEP) {
        stage->kept = memfd_create("kept", MFD_CLOEXEC);
        plan->streams[1].mode = STREAM_KEEP;
        plan->streams[1].descriptor = (int32_t)give(stage, fcntl(stage->kept, F_DUPFD_CLOEXEC, 3));
        return 0;
    }
    if (pipe2(pair, O_CLOEXEC) < 0)
        return -errno;
    stage->output = pair[0];
    plan->streams[1].mode = STREAM_DESCRIPTOR;
    plan->streams[1].descriptor = (int32_t)give(stage, pair[1]);
    plan->streams[2] = plan->streams[1];
    return 0;
}

static void add_landlock(struct stage *stage)
{
    int abi = landlock_abi();
    struct plan *plan = &stage->writer.plan;

    plan->landlock_fs =
        stage->play->without_landlock ? LANDLOCK_FS_MAKE_CHAR : landlock_fs_rights(abi);
    plan->landlock_scoped = stage->play->without_landlock ? 0 : landlock_scopes(abi);
}

static void add_program(struct stage *stage)
{
    const struct play *play = stage->play;
    const char *script[] = {"/bin/sh", "-c", play->script, NULL};
    const char *const *argv = play->argv ? play->argv : script;
    struct plan *plan = &stage->writer.plan;
    char home[256];
    const char *env[8] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TERM=dumb",
        "TMPDIR=/tmp", home, play->variable};
    size_t count = 0;

    (void)snprintf(home, sizeof(home), "HOME=%s", play->home ? play->home : "/home/leg");
    while (argv[count])
        count++;
    plan->argv = seam_put_list(&stage->writer.strings, argv, count);
    plan->env = seam_put_list(&stage->writer.strings, env, play->variable ? 6 : 5);
    plan->directory =
        seam_put_text(&stage->writer.strings, play->directory ? play->directory : "/");
}

static int compose(struct stage *stage)
{
    const struct play *play = stage->play;
    struct plan *plan = &stage->writer.plan;
    int r;

    plan_writer_init(&stage->writer);
    stage->n_descriptors = 1;
    plan->leg = 4711;
    plan->boundary = BOUNDARY_DOMAIN;
    plan->view = VIEW_MINIMAL;
    plan->net = play->host_network ? NET_HOST : NET_NONE;
    plan->uid = play->uid;
    plan->gid = play->gid;
    plan->n_groups = play->n_groups;
    for (uint32_t i = 0; i < play->n_groups; i++)
        plan->groups[i] = play->groups[i];
    plan->limits = play->limits;
    plan->scratch_bytes = 64 << 20;
    r = play->layers[0] || play->wrong_boundary ? add_layers(stage) : add_system(stage);
    if (r == 0)
        r = add_grants(stage);
    if (r == 0)
        r = add_streams(stage);
    add_landlock(stage);
    add_program(stage);
    return r < 0 ? r : plan_seal(&stage->writer, &stage->descriptors[0]);
}

static int send_plan(struct stage *stage)
{
    const struct seam_plan plan = {.leg = 4711};
    struct seam_writer writer;
    int r = compose(stage);

    if (r == 0) {
        seam_writer_init(&writer, SEAM_PLAN, 0);
        r = seam_send(stage->channel, &writer, &plan, stage->descriptors, stage->n_descriptors);
        seam_writer_done(&writer);
    }
    for (uint32_t i = 0; i < stage->n_descriptors; i++) {
        if (i > 0 || stage->descriptors[i] > 0)
            close(stage->descriptors[i]);
    }
    plan_writer_done(&stage->writer);
    return r;
}

static int send_go(struct stage *stage)
{
    const struct seam_end end = {0};
    struct seam_writer writer;
    int r;

    if (stage->play->before_go)
        stage->play->before_go(stage->child.pid, stage->play->context);
    seam_writer_init(&writer, SEAM_GO, 0);
    r = seam_send(stage->channel, &writer, &end, NULL, 0);
    seam_writer_done(&writer);
    return r;
}

static int hear(struct stage *stage, const struct seam_message *message)
{
    struct outcome *outcome = stage->outcome;
    const struct seam_failed *failed = message->fixed;
    const struct seam_event *event = message->fixed;

    switch (message->header.type) {
    case SEAM_WAITING:
        stage->waited_us = clock_monotonic_us();
        outcome->wait_us = stage->waited_us - stage->spawned_us;
        return send_plan(stage);
    case SEAM_READY:
        outcome->ready = true;
        outcome->build_us = ((const struct seam_ready *)message->fixed)->build_us;
        return send_go(stage);
    case SEAM_STARTED:
        outcome->started = true;
        outcome->start_us = clock_monotonic_us() - stage->waited_us;
        return 0;
    case SEAM_FAILED:
        return fault_set(&outcome->fault, failed->step, failed->error, "%s",
                   seam_text(message, failed->subject)) < 0
                   ? 0
                   : -EINVAL;
    case SEAM_TOLD:
        outcome->n_told++;
        outcome->told_count = event->a;
        (void)snprintf(outcome->told, sizeof(outcome->told), "%s: %s",
            seam_text(message, event->subject), seam_text(message, event->detail));
        return 0;
    case SEAM_EXITED:
        outcome->exited = true;
        outcome->end = *(const struct seam_exited *)message->fixed;
        outcome->wait_status = outcome->end.wait_status;
        return 0;
    default:
        return -EBADMSG;
    }
}

/* Reads output and channel until both have ended. */
static int attend(struct stage *stage)
{
    size_t filled = 0;
    int r = 0;

    while (r == 0) {
        struct pollfd fds[] = {
            {.fd = stage->channel, .events = POLLIN}, {.fd = stage->output, .events = POLLIN}};
        struct seam_message message;

        if (stage->channel < 0 && stage->output < 0)
            return 0;
        if (poll(fds, 2, 120000) <= 0)
            return -ETIMEDOUT;
        if (fds[1].revents) {
            char *at = stage->outcome->output + filled;
            ssize_t n = read(stage->output, at, PLAY_OUTPUT_MAX - 1 - filled);

            if (n <= 0)
                close_fd(&stage->output);
            else
                filled += (size_t)n;
            continue;
        }
        r = seam_receive(stage->channel, &message);
        if (r == SEAM_E_CLOSED || r == -ECONNRESET) {
            close_fd(&stage->channel);
            if (stage->n_descriptors == 0) /* never came to a plan */
                return 0;
            r = 0;
            continue;
        }
        if (r == 0) {
            r = hear(stage, &message);
            seam_message_done(&message);
        }
    }
    return r;
}

static int say_mapped(struct stage *stage)
{
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, SEAM_MAPPED, 0);
    r = seam_send(stage->channel, &writer, &(struct seam_end){0}, NULL, 0);
    seam_writer_done(&writer);
    return r > 0 ? -EPIPE : r;
}

static int bear(struct stage *stage, const struct zygote_play *zygote)
{
    const uint64_t namespaces =
        (uint64_t)NAMESPACES | (stage->play->host_network ? 0 : (uint64_t)CLONE_NEWNET);
    auto_close int theirs = -EBADF;
    int pair[2], r;

    r = seam_channel_pair(pair);
    if (r < 0)
        return r;
    stage->channel = pair[0];
    theirs = pair[1];
    r = zygote_play_bear(zygote, namespaces, 0, theirs, &stage->child.pid, &stage->child.pidfd);
    if (r != 0)
        return r < 0 ? r : -r;
    r = namespace_map_ids(stage->child.pid, ID_BASE, &stage->child.user_namespace);
    return r < 0 ? r : say_mapped(stage);
}

static int spawn(struct stage *stage)
{
    struct zygote_play zygote;
    uint64_t before;
    int r = zygote_play_start("saphan-stub", -EBADF, &zygote);

    if (r < 0)
        return r;
    before = clock_monotonic_us();
    r = bear(stage, &zygote);
    stage->spawned_us = clock_monotonic_us();
    stage->outcome->slot_us = stage->spawned_us - before;
    (void)zygote_play_end(&zygote);
    return r;
}

static void take_kept(struct stage *stage)
{
    struct kept_reader reader;
    uint64_t gap;

    if (stage->kept < 0 || kept_open(&reader, stage->kept) < 0)
        return;
    for (;;) {
        char *at = stage->outcome->kept + stage->outcome->kept_size;
        ssize_t n =
            kept_read(&reader, at, sizeof(stage->outcome->kept) - stage->outcome->kept_size, &gap);

        if (n <= 0)
            return;
        stage->outcome->kept_size += (size_t)n;
    }
}

int play_run(const struct play *play, struct outcome *ret)
{
    struct stage stage = {.play = play,
        .outcome = ret,
        .child = {.pidfd = -EBADF, .user_namespace = -EBADF},
        .channel = -EBADF,
        .output = -EBADF,
        .kept = -EBADF};
    siginfo_t info;
    int r;

    memset(ret, 0, sizeof(*ret));
    r = spawn(&stage);
    if (r == 0)
        r = attend(&stage);
    if (stage.child.pidfd >= 0) {
        if (r < 0)
            (void)syscall(SYS_pidfd_send_signal, stage.child.pidfd, SIGKILL, NULL, 0);
        (void)waitid((idtype_t)P_PIDFD, (id_t)stage.child.pidfd, &info, WEXITED);
    }
    take_kept(&stage);
    close_fd(&stage.kept);
    close_fd(&stage.channel);
    close_fd(&stage.output);
    close_fd(&stage.child.pidfd);
    close_fd(&stage.child.user_namespace);
    return r;
}

int play_script(const struct play *play, const char *script, struct outcome *ret)
{
    struct play copy = *play;

    copy.script = script;
    return play_run(&copy, ret);
}
