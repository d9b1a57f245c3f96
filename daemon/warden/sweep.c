#include "sweep.h"

#include "cgroup.h"
#include "cgroups.h"
#include "errands.h"
#include "kept_files.h"
#include "ledger.h"
#include "log.h"
#include "placeholders.h"
#include "program.h"
#include "text.h"
#include "undertaker.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#define OPEN_TIMEOUT_MS 5000

/* A private daemon's cgroup carries its pid in its name; the ledger remembers it. */
static void sweep_cgroup(struct warden *warden)
{
    auto_free char *name = NULL;

    if (warden->cgroup_parent >= 0 && ledger_noted(warden->ledger, "cgroup", &name) == 0 &&
        text_starts_with(name, "saphan-") && !strchr(name, '/') &&
        !text_equal(name, warden->cgroup_name)) {
        int cgroup = openat(warden->cgroup_parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (cgroup >= 0) {
            int base = warden->cgroup_base;

            warden->cgroup_base = cgroup;
            cgroups_sweep(warden);
            warden->cgroup_base = base;
            close(cgroup);
            cgroups_sweep_one(warden->cgroup_parent, name);
        }
    }
    cgroups_sweep(warden);
    (void)ledger_note(warden->ledger, "cgroup", warden->cgroup_name ? warden->cgroup_name : "");
}

/* Asks the opener, as the requester, for the directory: no path is opened with more rights than its
 * owner has, now either. */
static int ask_opener(struct program_child *opener, const char *path, int *ret_fd)
{
    auto_free struct seam_open *open = calloc(1, sizeof(*open));
    struct pollfd channel = {.fd = opener->channel, .events = POLLIN};
    struct seam_message answer;
    struct seam_writer writer;
    int r;

    if (!open)
        return -ENOMEM;
    seam_writer_init(&writer, SEAM_OPEN, 0);
    open->n_paths = 1;
    open->paths[0].path = seam_put_text(&writer, path);
    r = seam_send(opener->channel, &writer, open, NULL, 0);
    seam_writer_done(&writer);
    if (r != 0)
        return r < 0 ? r : -EPIPE;
    if (poll(&channel, 1, OPEN_TIMEOUT_MS) <= 0)
        return -ETIMEDOUT;
    r = seam_receive(opener->channel, &answer);
    if (r != 0)
        return r < 0 ? r : -EPIPE;
    r = -EBADMSG;
    if (answer.header.type == SEAM_OPENED) {
        const struct seam_opened *opened = answer.fixed;

        r = -opened->error;
        if (opened->error == 0 && answer.n_descriptors == 1)
            *ret_fd = steal_fd(&answer.descriptors[0]);
        else if (opened->error == 0)
            r = -EBADMSG;
    }
    seam_message_done(&answer);
    return r;
}

static int open_as(struct warden *warden, uint32_t uid, uint32_t gid, const char *path, int *ret_fd)
{
    const struct peer peer = {.uid = uid, .gid = gid};
    struct program_identity identity;
    const char *argv[] = {program_name(PROGRAM_OPENER), identity.uid, identity.gid, NULL};
    struct program_child opener;
    int r;

    program_identity(&peer, &identity);
    r = program_start(warden, PROGRAM_OPENER, argv, -EBADF, &opener);
    if (r < 0)
        return r;
    r = ask_opener(&opener, path, ret_fd);
    program_end(warden, &opener, NOBODY);
    return r;
}

/* 0: the intent can be forgotten. */
static int sweep_intent(void *context, const struct ledger_intent *intent)
{
    struct warden *warden = context;
    auto_close int directory = -EBADF;
    struct statx st;
    int r;

    r = open_as(warden, intent->uid, intent->gid, intent->directory, &directory);
    if (r == -ENOENT || r == -ENOTDIR)
        return 0; /* the directory is gone, and what was in it */
    if (r < 0) {
        log_error("sweep: leg %llu: %s: %s: its placeholder %s may be left",
            (unsigned long long)intent->leg, intent->directory, strerror(-r), intent->path);
        return r;
    }
    if (statx(directory, "", AT_EMPTY_PATH, STATX_INO, &st) < 0 || st.stx_ino != intent->ino ||
        (((uint64_t)st.stx_dev_major << 32) | st.stx_dev_minor) != intent->dev)
        return 0; /* another directory has that name now */
    r = placeholder_remove(directory, intent->path);
    if (r < 0 && r != -ENOENT)
        log_warning("sweep: %s/%s: stays: %s", intent->directory, intent->path, strerror(-r));
    return 0;
}

static void forget_kept(void *context, uint64_t leg)
{
    kept_files_remove(context, leg);
}

int sweep(struct warden *warden)
{
    int legs, r;

    sweep_cgroup(warden);
    r = ledger_sweep_intents(warden->ledger, sweep_intent, warden);
    if (r < 0)
        return r;
    legs = ledger_sweep_legs(warden->ledger);
    if (legs < 0)
        return legs;
    if (legs > 0)
        log_warning("sweep: %d legs of a dead saphand are INDETERMINATE now", legs);
    return ledger_prune(warden->ledger, warden->options.keep_legs, forget_kept, warden);
}
