/* plan.h - all that the stub needs to know to turn a slot into a leg, in one sealed memfd.
 *
 * The warden writes it, seals it (F_SEAL_WRITE and all others), and sends it with the descriptors
 * it names by index.  The stub maps it read-only, and checks form and bounds all the same: a plan
 * that does not fit is a failure of step `plan`, never a leg with something left out.
 */
#pragma once

#include "admit.h"
#include "channel.h"
#include "forward.h"

#define PLAN_VERSION 3
#define PLAN_MOUNTS_MAX 96
#define PLAN_MASKS_MAX 128
#define PLAN_LAYERS_MAX 112

enum plan_mount_kind {
    PLAN_MOUNT_SYSTEM = 1, /* a system directory: read-only, read and execute */
    PLAN_MOUNT_READ = 2,   /* a read grant: the same rights */
    PLAN_MOUNT_WRITE = 3,  /* a write grant of any kind: all rights */
    PLAN_MOUNT_DEV = 4,    /* the leg's /dev: device nodes made by the warden */
};

struct plan_mount {
    uint32_t kind;
    uint32_t descriptor;     /* index: a detached, id-mapped mount */
    uint32_t directory;      /* 1: a directory; 0: a regular file */
    uint32_t grant;          /* index of the grant, or UINT32_MAX */
    uint32_t stays_writable; /* 1: even inside a carve-out of another grant (a worktree's gitdir) */
    uint32_t reserved;
    struct seam_text target; /* absolute: where it stands on the host, and so in the leg */
};

struct plan_carve_out {
    uint32_t kind;         /* enum carve_out_kind */
    uint32_t mount;        /* index into mounts: the grant it lies in */
    struct seam_text path; /* relative to that mount */
};

struct plan_symlink { /* the new root's own links: /bin -> usr/bin */
    struct seam_text path, target;
};

struct plan {
    uint32_t magic, version;
    uint32_t size; /* of the whole memfd: this struct and the string table behind it */
    uint32_t strings_size;
    uint64_t leg;

    uint32_t boundary, view, net;
    uint32_t uid, gid, n_groups;
    uint32_t groups[GROUPS_MAX];

    uint32_t n_mounts, n_carve_outs, n_masks, n_symlinks;
    struct plan_mount mounts[PLAN_MOUNTS_MAX]; /* parents before children */
    struct plan_carve_out carve_outs[CARVE_OUTS_MAX];
    struct plan_symlink symlinks[16];
    struct seam_text
        masks[PLAN_MASKS_MAX]; /* absolute paths inside the leg to cover with nothing */

    /* A container: the descriptors of its layers, the topmost first, each a detached mount that is
     * read-only and id-mapped; and who owns the root of the topmost. */
    uint32_t n_layers;
    uint32_t layers[PLAN_LAYERS_MAX];
    uint32_t writable_root;     /* 1: what is written to the root goes to the scratch */
    uint32_t nested_allowed;    /* 1: a program may build a sandbox of its own inside */
    uint64_t capabilities;      /* bits of capability.h, held in its own user namespace */
    struct seam_text host_name; /* absent: as it is */

    /* Landlock: what the ruleset handles on this kernel; admit() saw to it that it is enough. */
    uint64_t landlock_fs, landlock_net, landlock_scoped;
    uint32_t landlock_flags; /* for landlock_restrict_self(2) */
    /* 1: pids.max holds limits.tasks; 0: RLIMIT_NPROC on the leg's own ids does. */
    uint32_t tasks_by_controller;

    uint32_t n_ports; /* NET_DOOR: the leg's own loopback ports where its door listens */
    uint16_t ports[FORWARDS_MAX + 2];

    uint64_t scratch_bytes; /* bound of /tmp, /run, /dev/shm and HOME together */
    struct limits limits;

    struct {
        uint32_t mode; /* enum stream */
        int32_t
            descriptor; /* index: the client's descriptor, a pipe's write end, or the kept file */
    } streams[3];

    struct seam_list argv, env;
    struct seam_text directory;
};

/* -- writing (warden) -- */
struct plan_writer {
    struct plan plan;
    struct seam_writer strings; /* seam_put_text(&writer.strings, ...) */
};

void plan_writer_init(struct plan_writer *writer);
void plan_writer_done(struct plan_writer *writer);
/* Makes the sealed memfd.  SEAM_E_FULL, -errno. */
int plan_seal(struct plan_writer *writer, int *ret_memfd);

/* -- reading (stub) -- */
struct plan_view {
    const struct plan *plan;
    const char *strings;
    size_t mapped;
};

/* Maps and checks a plan that names at most N_DESCRIPTORS descriptors.  -EINVAL when it is not
 * sealed, of another version, or any text, list, count or index does not fit. */
int plan_open(int memfd, size_t n_descriptors, struct plan_view *ret);
void plan_close(struct plan_view *view);
const char *plan_text(const struct plan_view *view, struct seam_text text); /* NULL = absent */
/* A NULL-terminated argv or envp whose strings lie in the plan; the caller frees the array alone.
 */
int plan_strv(const struct plan_view *view, struct seam_list list, char ***ret);
