/* grants.c - from what the front sent to a request that admit() can judge.
 *
 * Every grant becomes a descriptor (the client's, or one that the opener opened as the requester)
 * and the kernel's own name of it.  What a client says a descriptor is called is never used. */
#include "grants.h"

#include "leg.h"
#include "leg_image.h"
#include "legs.h"
#include "own_paths.h"

#include "capability.h"
#include "descriptor.h"
#include "log.h"
#include "outlets.h"
#include "steps.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Without asking a file system's server: a hanging FUSE mount must not hold the warden up. */
static int look_at(int fd, struct statx *ret)
{
    return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
               STATX_TYPE | STATX_INO | STATX_NLINK | STATX_MNT_ID, ret) < 0
               ? -errno
               : 0;
}

/* A file system that a user serves, in the grant or as what it lies on: some can be id-mapped, but
 * what the warden does in a grant (placeholders.c) must not wait for its server. */
static bool holds_users_own(
    const struct mount_table *table, const struct mount_entry *mount, const char *path)
{
    if (mount_entry_is_users_own(mount))
        return true;
    for (uint32_t i = 0; i < table->count; i++) {
        if (mount_entry_is_users_own(&table->entries[i]) &&
            text_path_beneath(table->entries[i].point, path))
            return true;
    }
    return false;
}

/* Fills request.grants[INDEX] from grant_fds[INDEX].  A refusal's reason, or REASON_NONE. */
static enum reason name_grant(struct leg *leg, const struct mount_table *table, uint32_t index)
{
    struct grant *grant = &leg->request.grants[index];
    const struct mount_entry *mount;
    struct statx st;

    if (look_at(leg->grant_fds[index], &st) < 0)
        return REASON_GRANT_ABSENT;
    if (!S_ISDIR(st.stx_mode) && !S_ISREG(st.stx_mode))
        return REASON_GRANT_TYPE;
    if (descriptor_path(leg->grant_fds[index], &leg->grant_paths[index]) < 0)
        return REASON_GRANT_ABSENT;
    mount = mount_table_find(table, st.stx_mnt_id);
    if (!text_path_is_normal(leg->grant_paths[index]) || !mount)
        return REASON_GRANT_FOREIGN_MOUNT;
    if (holds_users_own(table, mount, leg->grant_paths[index]))
        return REASON_GRANT_FILESYSTEM;
    leg->grant_dev[index] = ((uint64_t)st.stx_dev_major << 32) | st.stx_dev_minor;
    leg->grant_ino[index] = st.stx_ino;
    grant->path = leg->grant_paths[index];
    grant->directory = S_ISDIR(st.stx_mode);
    grant->covers_own =
        grant_writes(grant->kind) && own_paths_covered(leg->warden, table, mount, grant->path,
                                         leg->grant_dev[index], st.stx_ino);
    return REASON_NONE;
}

enum reason grant_look(int fd, char **ret_path)
{
    const struct mount_entry *mount;
    struct mount_table table = {0};
    enum reason reason = REASON_NONE;
    auto_free char *path = NULL;
    struct statx st;

    if (look_at(fd, &st) < 0 || descriptor_path(fd, &path) < 0)
        return REASON_GRANT_ABSENT;
    if (mount_table_read(&table) < 0)
        return REASON_OUT_OF_RESOURCES;
    mount = mount_table_find(&table, st.stx_mnt_id);
    if (!text_path_is_normal(path) || !mount)
        reason = REASON_GRANT_FOREIGN_MOUNT;
    else if (holds_users_own(&table, mount, path))
        reason = REASON_GRANT_FILESYSTEM;
    mount_table_done(&table);
    if (reason == REASON_NONE)
        *ret_path = steal_ptr(path);
    return reason;
}

static void copy_artefacts(struct leg *leg)
{
    for (uint32_t i = 0; i < leg->run->n_artefacts; i++) {
        leg->request.artefacts[i].path = seam_text(&leg->ask, leg->run->artefacts[i].path);
        leg->request.artefacts[i].min_size = leg->run->artefacts[i].min_size;
        leg->request.artefacts[i].has_sha256 = leg->run->artefacts[i].has_sha256 != 0;
        memcpy(leg->request.artefacts[i].sha256, leg->run->artefacts[i].sha256, 32);
    }
    leg->request.n_artefacts = leg->run->n_artefacts;
}

static void copy_carve_outs(struct leg *leg)
{
    const char *at = seam_list_first(&leg->ask, leg->run->carve_outs);

    for (uint32_t i = 0; i < leg->run->carve_outs.count; i++, at = seam_list_next(at))
        leg->request.carve_outs[i] = at;
    leg->request.n_carve_outs = leg->run->carve_outs.count;
}

/* Numbers that a front may not send: it checks them, and we do not rely on it. */
static bool numbers_fit(const struct seam_run *run)
{
    if (run->n_grants > GRANTS_MAX || run->n_artefacts > ARTEFACTS_MAX ||
        run->carve_outs.count > CARVE_OUTS_MAX || run->boundary > BOUNDARY_NONE ||
        run->view > VIEW_HOST || run->net > NET_LAST || run->capabilities & ~capabilities_known())
        return false;
    for (uint32_t i = 0; i < run->n_grants; i++) {
        if (run->grants[i].kind < GRANT_READ || run->grants[i].kind > GRANT_GIT_COMMON)
            return false;
    }
    return true;
}

/* NULL where nothing was asked. */
static const char *asked_text(const struct leg *leg, struct seam_text text)
{
    const char *value = seam_text(&leg->ask, text);

    return value && *value ? value : NULL;
}

/* Several fields may name the same descriptor, so each gets a copy; what came is closed when the
 * last field has its own (leg_open_streams). */
static int take_descriptor(const struct leg *leg, int32_t index, int *ret)
{
    if (index < 0 || (size_t)index >= leg->ask.n_descriptors)
        return -EBADMSG;
    *ret = fcntl(leg->ask.descriptors[index], F_DUPFD_CLOEXEC, 3);
    return *ret < 0 ? -errno : 0;
}

/* Each grant's descriptor; -EBADF stays where a path is to be opened. */
static int take_descriptors(struct leg *leg)
{
    int r = 0;

    for (uint32_t i = 0; i < leg->run->n_grants; i++) {
        int32_t index = leg->run->grants[i].descriptor;

        leg->request.grants[i].kind = (enum grant_kind)leg->run->grants[i].kind;
        leg->request.grants[i].target = asked_text(leg, leg->run->grants[i].target);
        if (index < 0) {
            if (!seam_text(&leg->ask, leg->run->grants[i].path))
                return -EBADMSG;
            continue;
        }
        r = take_descriptor(leg, index, &leg->grant_fds[i]);
        if (r < 0)
            return r;
    }
    leg->request.n_grants = leg->run->n_grants;
    return 0;
}

/* The client opened it, so the client may read it; what it is and holds, the door looks at. */
static int take_file(const struct leg *leg, int32_t index, int *ret)
{
    return index < 0 ? 0 : take_descriptor(leg, index, ret);
}

/* A regular file, open for reading: O_PATH gives no right to read. */
static bool is_readable_file(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    struct statx st;

    return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_WRONLY &&
           look_at(fd, &st) == 0 && S_ISREG(st.stx_mode);
}

static bool files_are_readable(const struct leg *leg)
{
    for (uint32_t i = 0; i < leg->request.n_forwards; i++) {
        if ((leg->forward_keys[i] >= 0 && !is_readable_file(leg->forward_keys[i])) ||
            (leg->forward_cas[i] >= 0 && !is_readable_file(leg->forward_cas[i])))
            return false;
    }
    return true;
}

/* What the front's message says of the door, held to its form once more. */
static int take_outlets(struct leg *leg)
{
    const struct seam_run *run = leg->run;
    int r;

    if (run->n_hosts > HOSTS_MAX || run->n_forwards > FORWARDS_MAX)
        return -EBADMSG;
    for (uint32_t i = 0; i < run->n_hosts; i++) {
        if (!seam_host(&leg->ask, &run->hosts[i], &leg->request.hosts[i]))
            return -EBADMSG;
    }
    for (uint32_t i = 0; i < run->n_forwards; i++) {
        if (!seam_forward(&leg->ask, &run->forwards[i], &leg->request.forwards[i]))
            return -EBADMSG;
        r = take_file(leg, run->forwards[i].key, &leg->forward_keys[i]);
        if (r == 0)
            r = take_file(leg, run->forwards[i].ca, &leg->forward_cas[i]);
        if (r == 0 && (leg->request.forwards[i].header != NULL) != (leg->forward_keys[i] >= 0))
            r = -EBADMSG;
        if (r < 0)
            return r;
    }
    leg->request.n_hosts = run->n_hosts;
    leg->request.n_forwards = run->n_forwards;
    return 0;
}

/* The numbers and descriptors of the front's message. */
static int take_message(struct leg *leg)
{
    int r = numbers_fit(leg->run) ? take_descriptors(leg) : -EBADMSG;

    if (r == 0)
        r = take_outlets(leg);
    if (r == -EBADMSG)
        leg_refuse(leg, REASON_REQUEST_MALFORMED, "a number or index does not fit");
    else if (r < 0)
        leg_fail(leg, STEP_ADMIT, -r, "the request's descriptors");
    return r;
}

int leg_read_request(struct leg *leg)
{
    const struct seam_run *run = leg->run;
    struct request *request = &leg->request;
    int r = take_message(leg);

    if (r < 0)
        return r;
    if (!files_are_readable(leg)) {
        leg_refuse(leg, REASON_KEY_UNREADABLE, "it is no regular file that is open for reading");
        return -EINVAL;
    }
    request->boundary = (enum boundary)run->boundary;
    request->view = (enum view)run->view;
    request->net = (enum net)run->net;
    request->git = run->git != 0;
    request->detach = run->detach != 0;
    request->measure = run->measure != 0;
    request->vendor = seam_text(&leg->ask, run->vendor);
    request->chdir = seam_text(&leg->ask, run->chdir);
    request->limits = run->limits;
    request->writable_root = run->writable_root != 0;
    request->capabilities = run->capabilities;
    request->wants_container = asked_text(leg, run->user) || asked_text(leg, run->host_name) ||
                               request->writable_root || request->capabilities;
    copy_artefacts(leg);
    copy_carve_outs(leg);
    return leg_find_image(leg);
}

int leg_name_grants(struct leg *leg)
{
    return leg_name_added_grants(leg, 0);
}

int leg_name_added_grants(struct leg *leg, uint32_t first)
{
    enum reason reason = REASON_NONE;
    struct mount_table table = {0};
    uint32_t i = first;
    int r = leg->request.n_grants > first ? mount_table_read(&table) : 0;

    if (r < 0) {
        leg_fail(leg, STEP_ADMIT, -r, "/proc/self/mountinfo");
        return r;
    }
    while (i < leg->request.n_grants && reason == REASON_NONE)
        reason = name_grant(leg, &table, i++);
    mount_table_done(&table);
    if (reason != REASON_NONE) {
        const char *asked =
            i <= leg->run->n_grants ? seam_text(&leg->ask, leg->run->grants[i - 1].path) : NULL;

        if (leg->request.grants[i - 1].added)
            asked = leg->request.grants[i - 1].added;
        leg_refuse(leg, reason, asked ? asked : "a descriptor");
        return -EINVAL;
    }
    return 0;
}

/* ---- paths, opened by the opener as the requester ---- */

/* A linked worktree's directories become grants of their own: the opener saw, as the requester,
 * that the repository points back. */
static void found_worktree(
    struct leg *leg, const struct seam_opened *opened, struct seam_message *answer)
{
    struct request *request = &leg->request;

    if (opened->error) {
        (void)fault_set(&leg->build_fault, STEP_OPEN, opened->error, "worktree");
        return;
    }
    if (answer->n_descriptors != 1 || request->n_grants == GRANTS_MAX ||
        (opened->kind != GRANT_GIT_DIR && opened->kind != GRANT_GIT_COMMON))
        return;
    leg->grant_fds[request->n_grants] = steal_fd(&answer->descriptors[0]);
    request->grants[request->n_grants++].kind = (enum grant_kind)opened->kind;
}

static bool opened(void *context, struct seam_message *answer)
{
    struct leg *leg = context;
    const struct seam_opened *opened = answer->fixed;
    uint32_t index;

    if (opened->path >= leg->n_opening)
        return true;
    index = leg->opening[opened->path];
    if (opened->kind != 0) {
        found_worktree(leg, opened, answer);
        return false;
    }
    if (opened->error || answer->n_descriptors != 1)
        (void)fault_set(&leg->build_fault, STEP_ADMIT, opened->error ? opened->error : EBADMSG,
            "%s", seam_text(&leg->ask, leg->run->grants[index].path));
    else
        leg->grant_fds[index] = steal_fd(&answer->descriptors[0]);
    return true;
}

static void opening_done(void *context, int result)
{
    struct leg *leg = context;
    const struct fault *fault = &leg->build_fault;
    char detail[REFUSAL_DETAIL_MAX];

    leg->errand = NULL;
    if (result < 0) {
        leg_fail(leg, STEP_OPEN, -result, "opener");
    } else if (fault->step && fault_is_shortage(fault->error)) {
        leg_fail(leg, fault->step, fault->error, fault->subject);
    } else if (fault->step == STEP_OPEN) {
        leg_refuse(leg, REASON_WORKTREE_FORGED, fault_errno_name(fault->error));
    } else if (fault->step == STEP_ADMIT) {
        (void)snprintf(
            detail, sizeof(detail), "%.200s: %s", fault->subject, fault_errno_name(fault->error));
        leg_refuse(leg, REASON_GRANT_ABSENT, detail);
    } else {
        leg_resolved(leg);
    }
}

int leg_open_paths(struct leg *leg)
{
    auto_free struct seam_open *open = calloc(1, sizeof(*open));
    struct seam_writer writer;
    int r;

    if (!open)
        return -ENOMEM;
    seam_writer_init(&writer, SEAM_OPEN, 0);
    for (uint32_t i = 0; i < leg->run->n_grants; i++) {
        uint32_t n = leg->n_opening;

        if (leg->grant_fds[i] >= 0)
            continue;
        leg->opening[leg->n_opening++] = (uint8_t)i;
        open->paths[n].path =
            seam_put_text(&writer, seam_text(&leg->ask, leg->run->grants[i].path));
        open->paths[n].follow_git =
            leg->run->git && leg->run->grants[i].kind == GRANT_WORKSPACE ? 1 : 0;
    }
    open->n_paths = leg->n_opening;
    r = errand_run(leg->warden,
        &(struct errand_question){.program = PROGRAM_OPENER,
            .as = &leg->peer,
            .type = SEAM_OPEN,
            .fixed = open,
            .writer = &writer,
            .answer_type = SEAM_OPENED,
            .n_answers = leg->n_opening,
            .timeout_ms = 5000,
            .answer = opened,
            .done = opening_done,
            .context = leg},
        &leg->errand);
    seam_writer_done(&writer);
    return r;
}

bool leg_has_paths_to_open(const struct leg *leg)
{
    for (uint32_t i = 0; i < leg->run->n_grants; i++) {
        if (leg->grant_fds[i] < 0)
            return true;
    }
    return false;
}
