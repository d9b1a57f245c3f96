/* plans.c - from a decision to a plan: id-mapped mounts by descriptor, all the rest in one memfd.
 *
 * Every mount a leg gets is a detached copy made here, by the privileged side, of something that
 * was opened as the requester (a grant) or that is the system's (the view).  It is id-mapped into
 * the leg's own range, nosuid and nodev, and read-only unless it is a write grant; the stub can
 * attach it, and can neither widen nor change any of that: the locks of mount_namespaces(7) hold
 * in a user namespace that does not own the mount. */
#include "planning.h"

#include "leg_environment.h"
#include "leg_image.h"
#include "system_view.h"

#include "cgroup.h"
#include "landlock.h"
#include "mount.h"
#include "steps.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <string.h>

#define SCRATCH_BYTES (512ULL << 20)

int planning_give(struct planning *planning, int fd, uint32_t *ret_index)
{
    if (planning->n_descriptors == PLANNING_DESCRIPTORS_MAX) {
        close(fd);
        return fault_set(planning->fault, STEP_IDMAP, E2BIG, "more mounts than a leg may have");
    }
    planning->descriptors[planning->n_descriptors] = fd;
    *ret_index = planning->n_descriptors++;
    return 0;
}

/* Adds a detached copy of what FD is; RECURSIVE: with what is mounted below it. */
static int add_mount_mapped(struct planning *planning, enum plan_mount_kind kind, int fd,
    const char *path, bool directory, uint32_t grant, bool recursive, int user_namespace)
{
    struct plan *plan = &planning->writer.plan;
    struct plan_mount *mount = &plan->mounts[plan->n_mounts];
    uint64_t attrs = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_IDMAP |
                     (kind == PLAN_MOUNT_WRITE ? 0 : MOUNT_ATTR_RDONLY);
    int copy, r;

    if (plan->n_mounts == PLAN_MOUNTS_MAX)
        return fault_set(planning->fault, STEP_IDMAP, E2BIG, "more mounts than a leg may have");
    copy = mount_clone(fd, "", recursive ? AT_RECURSIVE : 0);
    if (copy < 0)
        return fault_set(planning->fault, STEP_IDMAP, -copy, "%s", path);
    r = mount_set(copy, attrs, user_namespace, recursive);
    if (r < 0) {
        close(copy);
        return fault_set(planning->fault, STEP_IDMAP, -r, "%s", path);
    }
    r = planning_give(planning, copy, &mount->descriptor);
    if (r < 0)
        return r;
    mount->kind = kind;
    mount->directory = directory;
    mount->grant = grant;
    mount->target = seam_put_text(&planning->writer.strings, path);
    plan->n_mounts++;
    return 0;
}

static int add_mount(struct planning *planning, enum plan_mount_kind kind, int fd, const char *path,
    bool directory, uint32_t grant, bool recursive)
{
    return add_mount_mapped(
        planning, kind, fd, path, directory, grant, recursive, planning->leg->slot->user_namespace);
}

static int add_minimal_view(struct planning *planning)
{
    const struct system_view *view = &planning->leg->warden->view;

    for (uint32_t i = 0; i < view->n_directories; i++) {
        int r = add_mount(planning, PLAN_MOUNT_SYSTEM, view->directories[i].fd,
            view->directories[i].path, true, UINT32_MAX, true);

        if (r < 0)
            return r;
    }
    return 0;
}

static int add_host_view(struct planning *planning)
{
    struct host_mount *mounts;
    uint32_t count;
    int r;

    r = host_mounts_read(&mounts, &count);
    if (r < 0)
        return fault_set(planning->fault, STEP_IDMAP, -r, "the host's mounts");
    for (uint32_t i = 0; r == 0 && i < count; i++) {
        r = add_mount(
            planning, PLAN_MOUNT_SYSTEM, mounts[i].fd, mounts[i].path, true, UINT32_MAX, false);
        if (r == -EINVAL) { /* one that cannot be id-mapped (NFS, 9p) is not shown */
            *planning->fault = (struct fault){0};
            r = 0;
        }
    }
    host_mounts_free(mounts, count);
    return r;
}

/* Links of the system, and those on the way to the vendor's program that nothing shows. */
static int add_symlinks(struct planning *planning)
{
    const struct leg_program *program = &planning->leg->vendor.program;
    const struct system_view *view = &planning->leg->warden->view;
    struct plan *plan = &planning->writer.plan;

    for (uint32_t i = 0; i < view->n_symlinks && i < array_size(plan->symlinks); i++) {
        plan->symlinks[i].path = seam_put_text(&planning->writer.strings, view->symlinks[i].path);
        plan->symlinks[i].target =
            seam_put_text(&planning->writer.strings, view->symlinks[i].target);
        plan->n_symlinks++;
    }
    for (uint32_t i = 0; i < program->n_links; i++) {
        if (plan->n_symlinks == array_size(plan->symlinks))
            return fault_set(planning->fault, STEP_PLAN, E2BIG, "%s", program->links[i].path);
        plan->symlinks[plan->n_symlinks].path =
            seam_put_text(&planning->writer.strings, program->links[i].path);
        plan->symlinks[plan->n_symlinks++].target =
            seam_put_text(&planning->writer.strings, program->links[i].target);
    }
    return 0;
}

static int add_devices(struct planning *planning)
{
    struct plan *plan = &planning->writer.plan;
    struct plan_mount *mount = &plan->mounts[plan->n_mounts];
    int r;

    r = planning_give(planning, steal_fd(&planning->leg->slot->devices), &mount->descriptor);
    if (r < 0)
        return r;
    mount->kind = PLAN_MOUNT_DEV;
    mount->directory = 1;
    mount->grant = UINT32_MAX;
    mount->target = seam_put_text(&planning->writer.strings, "/dev");
    plan->n_mounts++;
    return 0;
}

/* In a container the requester's own ids are the leg's, whichever these are there. */
static int add_grants(struct planning *planning)
{
    struct leg *leg = planning->leg;
    auto_close int map = -EBADF;

    if (leg->image && leg->request.n_grants > 0) {
        map = leg_grant_map(leg);
        if (map < 0)
            return fault_set(planning->fault, STEP_IDMAP, -map, "the grants' id map");
    }
    for (uint32_t i = 0; i < leg->request.n_grants; i++) {
        const struct grant *grant = &leg->request.grants[i];
        enum plan_mount_kind kind = grant_writes(grant->kind) ? PLAN_MOUNT_WRITE : PLAN_MOUNT_READ;
        int r = add_mount_mapped(planning, kind, leg->grant_fds[i], grant_place(grant),
            grant->directory, i, grant->directory, map >= 0 ? map : leg->slot->user_namespace);

        if (r < 0)
            return r;
        planning->writer.plan.mounts[planning->writer.plan.n_mounts - 1].stays_writable =
            grant->kind == GRANT_GIT_DIR;
    }
    return 0;
}

/* Parents before children; of two at one place the one that may be written comes last, on top. */
static int by_target(const void *a, const void *b, void *strings)
{
    const struct plan_mount *left = a, *right = b;
    int order = strcmp(
        (const char *)strings + left->target.offset, (const char *)strings + right->target.offset);

    return order ? order : (int)left->kind - (int)right->kind;
}

static void sort_mounts(struct planning *planning)
{
    struct plan *plan = &planning->writer.plan;

    qsort_r(plan->mounts, plan->n_mounts, sizeof(plan->mounts[0]), by_target,
        planning->writer.strings.strings);
}

static int add_carve_outs(struct planning *planning)
{
    const struct decision *decision = &planning->leg->decision;
    struct plan *plan = &planning->writer.plan;

    for (uint32_t i = 0; i < decision->n_carve_outs; i++) {
        uint32_t mount = 0;

        while (mount < plan->n_mounts && plan->mounts[mount].grant != decision->carve_outs[i].grant)
            mount++;
        if (mount == plan->n_mounts)
            return fault_set(
                planning->fault, STEP_CARVE_OUTS, EINVAL, "%s", decision->carve_outs[i].path);
        plan->carve_outs[i] = (struct plan_carve_out){.kind = decision->carve_outs[i].kind,
            .mount = mount,
            .path = seam_put_text(&planning->writer.strings, decision->carve_outs[i].path)};
    }
    plan->n_carve_outs = decision->n_carve_outs;
    return 0;
}

/* A secret that was granted by name is shown: the requester said so, and may read it. */
static bool granted_by_name(const struct leg *leg, const char *path)
{
    for (uint32_t i = 0; i < leg->request.n_grants; i++) {
        if (text_path_beneath(leg->request.grants[i].path, path))
            return true;
    }
    return false;
}

static void mask(const struct leg *leg, leg_mask *each, void *context, const char *path)
{
    if (!granted_by_name(leg, path))
        each(context, path);
}

/* Other users' homes are theirs to close; the requester's own secrets are hidden from its leg, and
 * whether they exist is asked by the stub alone. */
static int mask_home(const struct leg *leg, leg_mask *each, void *context)
{
    const char *home = leg->peer.home;

    if (!home || !text_path_is_normal(home))
        return 0;
    for (size_t i = 0; home_secrets[i]; i++) {
        auto_free char *path =
            text_format("%s/%s", text_equal(home, "/") ? "" : home, home_secrets[i]);

        if (!path)
            return -ENOMEM;
        mask(leg, each, context, path);
    }
    return 0;
}

int leg_masks(const struct leg *leg, leg_mask *each, void *context)
{
    const struct system_view *view = &leg->warden->view;

    for (uint32_t i = 0; i < view->n_masks; i++)
        mask(leg, each, context, view->masks[i]);
    return leg->decision.view == VIEW_HOST ? mask_home(leg, each, context) : 0;
}

static void add_mask(void *context, const char *path)
{
    struct planning *planning = context;
    struct plan *plan = &planning->writer.plan;

    plan->masks[plan->n_masks++] = seam_put_text(&planning->writer.strings, path);
}

static int add_masks(struct planning *planning)
{
    return leg_masks(planning->leg, add_mask, planning);
}

static int add_streams(struct planning *planning)
{
    struct leg *leg = planning->leg;
    struct plan *plan = &planning->writer.plan;

    for (size_t i = 0; i < 3; i++) {
        uint32_t index = 0;
        int r;

        plan->streams[i].mode = leg->run->streams[i].mode;
        plan->streams[i].descriptor = -1;
        if (plan->streams[i].mode == STREAM_NULL)
            continue;
        r = planning_give(planning, steal_fd(&leg->stream_fds[i]), &index);
        if (r < 0)
            return r;
        plan->streams[i].descriptor = (int32_t)index;
    }
    return 0;
}

/* What the ruleset handles: all this kernel knows.  The probe measured the ABI; admit() saw to it
 * that what the claims need is among it.  TCP rights are not handled but where they are the wall
 * that was asked for: a domain that handles them would refuse the leg's own loopback. */
static void add_landlock(struct planning *planning)
{
    int abi = (int)planning->leg->warden->machine.rungs[RUNG_LANDLOCK].value;
    struct plan *plan = &planning->writer.plan;

    plan->landlock_fs = landlock_fs_rights(abi);
    plan->landlock_net = planning->leg->decision.net == NET_LANDLOCK ? landlock_net_rights(abi) : 0;
    plan->landlock_scoped = landlock_scopes(abi);
    plan->landlock_flags = landlock_flags(abi) & LANDLOCK_LOG_NEW_EXEC_ON;
}

static void add_identity(struct planning *planning)
{
    const struct peer *peer = &planning->leg->peer;
    struct plan *plan = &planning->writer.plan;

    plan->uid = planning->leg->image ? planning->leg->image->uid : peer->uid;
    plan->gid = planning->leg->image ? planning->leg->image->gid : peer->gid;
    /* A group above the range has no place in the leg; leaving it out takes rights, gives none. */
    for (uint32_t i = 0; i < peer->n_groups; i++) {
        if (peer->groups[i] < 65536)
            plan->groups[plan->n_groups++] = leg_group_inside(planning->leg, peer->groups[i]);
    }
}

static int add_program(struct planning *planning)
{
    struct leg *leg = planning->leg;
    struct plan *plan = &planning->writer.plan;

    plan->argv = seam_put_list(&planning->writer.strings, leg->argv, leg->argc);
    plan->directory = seam_put_text(&planning->writer.strings, leg->decision.directory);
    return leg_put_environment(leg, &planning->writer.strings, &plan->env);
}

static void add_ports(struct planning *planning)
{
    const struct request *request = &planning->leg->request;
    struct plan *plan = &planning->writer.plan;

    if (planning->leg->decision.net != NET_DOOR)
        return;
    plan->ports[plan->n_ports++] = DOOR_PORT_HTTP;
    plan->ports[plan->n_ports++] = DOOR_PORT_SOCKS;
    for (uint32_t i = 0; i < request->n_forwards; i++)
        plan->ports[plan->n_ports++] = request->forwards[i].port;
}

static int add_view(struct planning *planning)
{
    if (planning->leg->image)
        return plan_image(planning);
    return planning->leg->decision.view == VIEW_HOST ? add_host_view(planning)
                                                     : add_minimal_view(planning);
}

static int compose(struct planning *planning)
{
    struct leg *leg = planning->leg;
    struct plan *plan = &planning->writer.plan;
    int r;

    plan->leg = leg->id;
    plan->boundary = leg->decision.boundary;
    plan->view = leg->decision.view;
    plan->net = leg->decision.net;
    plan->limits = leg->decision.limits;
    plan->tasks_by_controller = (leg->warden->cgroup_controllers & CGROUP_CONTROLLER_PIDS) != 0;
    plan->scratch_bytes = SCRATCH_BYTES;
    r = add_view(planning);
    if (r == 0)
        r = add_devices(planning);
    if (r == 0)
        r = add_grants(planning);
    if (r < 0)
        return r;
    sort_mounts(planning);
    if (!leg->image) {
        r = add_symlinks(planning);
        if (r == 0)
            r = add_masks(planning);
        if (r < 0)
            return r;
        add_landlock(planning);
    }
    add_ports(planning);
    add_identity(planning);
    r = add_carve_outs(planning);
    if (r == 0)
        r = add_streams(planning);
    if (r == 0)
        r = add_program(planning);
    return r;
}

static int seal_and_send(struct planning *planning)
{
    struct seam_plan plan = {.leg = planning->leg->id};
    struct seam_writer message;
    int r;

    r = plan_seal(&planning->writer, &planning->descriptors[0]);
    if (r == SEAM_E_FULL)
        return fault_set(planning->fault, STEP_PLAN, E2BIG, "arguments, environment and paths");
    if (r < 0)
        return fault_set(planning->fault, STEP_PLAN, -r, "sealing");
    seam_writer_init(&message, SEAM_PLAN, 0);
    r = seam_send(planning->leg->slot->channel, &message, &plan, planning->descriptors,
        planning->n_descriptors);
    seam_writer_done(&message);
    if (r != 0)
        return fault_set(planning->fault, STEP_PLAN, r < 0 ? -r : EPIPE, "sending");
    return 0;
}

int leg_send_plan(struct leg *leg, struct fault *ret_fault)
{
    struct planning *planning = calloc(1, sizeof(*planning));
    int r;

    if (!planning)
        return fault_set(ret_fault, STEP_PLAN, ENOMEM, "plan");
    plan_writer_init(&planning->writer);
    planning->leg = leg;
    planning->fault = ret_fault;
    planning->descriptors[0] = -EBADF;
    planning->n_descriptors = 1;
    r = compose(planning);
    if (r == 0)
        r = seal_and_send(planning);
    else if (ret_fault->step == 0)
        (void)fault_set(ret_fault, STEP_PLAN, r < 0 ? -r : E2BIG, "composing");
    for (uint32_t i = 0; i < planning->n_descriptors; i++)
        close_fd(&planning->descriptors[i]);
    plan_writer_done(&planning->writer);
    free(planning);
    return r;
}
