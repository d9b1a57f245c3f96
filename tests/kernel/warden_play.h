/* warden_play.h - plays the warden for one leg: a slot, id-mapped mounts, a plan, GO; and hears how
 * it went.  No policy stands in between: a test asks for exactly the walls it wants to look at.
 */
#pragma once

#include "messages.h"
#include "plan.h"
#include "steps.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAY_OUTPUT_MAX 65536

struct play_mount {
    const char *path;   /* on the host */
    const char *target; /* in the leg; NULL: the same */
    uint32_t kind;      /* PLAN_MOUNT_READ, PLAN_MOUNT_WRITE: what Landlock is told */
    bool other_mount; /* the mount itself is the other way round: READ writable, WRITE read-only */
};

struct play_carve_out {
    uint32_t kind;
    uint32_t mount; /* index into mounts[] of the play */
    const char *path;
};

struct play {
    const char *const *argv; /* NULL: sh -c SCRIPT */
    const char *script;
    uint32_t uid, gid; /* 0, 0 unless given: set them */
    const uint32_t *groups;
    uint32_t n_groups;
    struct play_mount mounts[8];
    struct play_carve_out carve_outs[8];
    const char *masks[4];
    const char *directory; /* NULL: "/" */
    const char *home;      /* NULL: /home/leg */
    const char *variable;  /* one more NAME=VALUE */
    struct limits limits;
    const char *layers[4]; /* a container: directories of the host, the topmost first; no system
                              directories then but those of mounts[] */
    const char *host_name;
    uint64_t capabilities;
    bool writable_root, nested_allowed;
    bool wrong_boundary; /* what is a container's, in a domain */
    bool host_network;
    bool without_landlock;                        /* a domain that handles next to nothing */
    uint32_t stdout_mode;                         /* UNSET: a pipe, captured with stderr in it */
    int stdin_fd;                                 /* 0: none */
    void (*before_go)(pid_t stub, void *context); /* the last wall stands, exec is not yet */
    void *context;
};

struct outcome {
    struct fault fault; /* step 0: it started */
    bool ready, started, exited;
    int wait_status;
    struct seam_exited end;
    char output[PLAY_OUTPUT_MAX];
    uint32_t n_told;
    int64_t told_count; /* of the last one */
    char told[512];     /* "call: detail" of the last one */
    uint64_t slot_us;   /* ordered of the zygote, born, mapped */
    uint64_t wait_us;   /* from then until the stub waits */
    uint64_t build_us;  /* from the plan to READY, as the stub measured it */
    uint64_t start_us;  /* from before the plan was made to STARTED */
    char kept[4096];
    size_t kept_size;
};

/* 0, or -errno when the play itself broke.  Nothing is left behind. */
int play_run(const struct play *play, struct outcome *ret);

/* Runs the script: its output, with its exit status asserted by the caller. */
int play_script(const struct play *play, const char *script, struct outcome *ret);
