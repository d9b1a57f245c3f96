/* messages.h - every message between our own processes.
 *
 * A direction has its own range of types; a receiver's table says which types it takes in which
 * state.  All structs are plain data, 8-byte aligned, without holes that carry memory (writers
 * zero them first).
 */
#pragma once

#include "admit.h"
#include "channel.h"
#include "event.h"
#include "fault.h"
#include "forward.h"
#include "hosts.h"
#include "image_messages.h"
#include "matrix_messages.h"
#include "verdict.h"

enum seam_type {
    /* warden -> front */
    SEAM_SERVE = 1, /* descriptor 0: the accepted connection */
    SEAM_ACCEPTED,  /* struct seam_accepted; descriptors: read ends of EVENTS streams, in order */
    SEAM_REFUSED,   /* struct seam_refused: ends the request */
    SEAM_EVENT,     /* struct seam_event */
    SEAM_VERDICT,   /* struct seam_verdict: ends a run */
    SEAM_LEG,       /* struct seam_leg */
    SEAM_LOG,       /* struct seam_log; descriptor 0: the kept output, read-only */
    SEAM_STATUS,    /* struct seam_status */
    SEAM_RUNG,      /* struct seam_rung, one for each */
    SEAM_RULE,      /* struct seam_rule, one for each rule that names the asker */
    SEAM_END,       /* struct seam_end: ends a list, a log, a kill */
    SEAM_WHY,       /* struct seam_why */
    SEAM_IMAGE,     /* struct seam_image */
    SEAM_MACHINE = 24, /* struct seam_machine: the row that the rungs after it belong to */
    SEAM_PROPERTY,     /* struct seam_property: what the row lets say */
    SEAM_CELL,         /* struct seam_cell */
    SEAM_ARM,          /* struct seam_arm, of the cell before it */

    /* front -> warden */
    SEAM_ASK_RUN = 32, /* struct seam_run; descriptors as its indices say */
    SEAM_ASK_LEGS,     /* struct seam_ask_legs -> SEAM_LEG..., SEAM_END */
    SEAM_ASK_SHOW,    /* struct seam_ask_leg -> SEAM_LEG, SEAM_EVENT..., [SEAM_VERDICT], SEAM_END */
    SEAM_ASK_LOGS,    /* struct seam_ask_leg -> SEAM_LOG (stdout), SEAM_LOG (stderr), SEAM_END */
    SEAM_ASK_KILL,    /* struct seam_ask_leg -> SEAM_END */
    SEAM_ASK_STATUS,  /* struct seam_ask_status -> SEAM_STATUS, SEAM_RUNG..., SEAM_RULE..., SEAM_END
                       */
    SEAM_CLIENT_GONE, /* struct seam_end: the client closed its side; a front ends after it */
    SEAM_ASK_WHY,     /* struct seam_ask_why -> SEAM_WHY, SEAM_END */
    SEAM_ASK_DOOR,    /* struct seam_ask_door -> SEAM_END */
    SEAM_ASK_IMAGE_ADD, /* struct seam_ask_image; descriptor 0: the source -> SEAM_IMAGE, SEAM_END
                         */
    SEAM_ASK_IMAGES,    /* struct seam_ask_image (name absent: all) -> SEAM_IMAGE..., SEAM_END */
    SEAM_ASK_IMAGE_RM,  /* struct seam_ask_image -> SEAM_END */
    SEAM_ASK_IMAGE_GC,  /* struct seam_ask_image -> SEAM_END: how many layers went */
    SEAM_ASK_MACHINE = 48, /* struct seam_ask_machine -> SEAM_MACHINE, SEAM_RUNG...,
                            * SEAM_PROPERTY..., SEAM_END */
    SEAM_ASK_CELL,   /* struct seam_cell with its step -> [SEAM_CELL, SEAM_ARM...], SEAM_END */
    SEAM_ASK_ARM,    /* struct seam_arm with its step -> SEAM_END */
    SEAM_ASK_MATRIX, /* struct seam_ask_matrix -> (SEAM_CELL, SEAM_ARM...)..., SEAM_END */

    /* warden -> stub */
    SEAM_PLAN = 64, /* struct seam_plan; descriptor 0: the sealed plan; then as the plan says */
    SEAM_GO,        /* struct seam_end: the ledger has the row: exec */
    SEAM_MAPPED,    /* struct seam_end: its ids are mapped: it can become root and prepare */

    /* stub -> warden */
    SEAM_WAITING = 96, /* struct seam_end: the slot stands */
    SEAM_READY,        /* struct seam_ready: the last wall stands */
    SEAM_FAILED,       /* struct seam_failed: a step failed; the stub ends */
    SEAM_STARTED,      /* struct seam_started: exec succeeded */
    SEAM_EXITED,       /* struct seam_exited: the first process ended; the stub ends */
    SEAM_TOLD,         /* struct seam_told: the stub has something to tell while the leg runs */
    SEAM_DOORWAY,      /* struct seam_end: the leg's listening sockets, as the plan's ports say */

    /* warden -> checker; checker -> warden */
    SEAM_CHECK = 128, /* struct seam_check; descriptors: the granted directories or files */
    SEAM_CHECKED,     /* struct seam_checked, one for each artefact, in order */

    /* warden -> opener; opener -> warden */
    SEAM_OPEN = 160, /* struct seam_open */
    SEAM_OPENED,     /* struct seam_opened, one for each path, in order; descriptor 0 if error == 0.
                      * What follow_git found (kind != 0) comes before the path's own answer. */
    SEAM_FIND,       /* struct seam_find */
    SEAM_TRAIL,      /* struct seam_trail, one for each step, in order; TRAIL_END is the last */

    /* probe -> warden */
    SEAM_PROBED = 192, /* struct seam_probed, one for each rung that was asked */

    /* ear -> warden */
    SEAM_HEARD = 224,  /* struct seam_heard: a denial, or more of one that was told before */
    SEAM_HEARD_DOMAIN, /* struct seam_heard_domain: one began to be told of, or is gone */
    SEAM_HEARD_LOST,   /* struct seam_heard_lost: what was not heard since the last of these */
    SEAM_HEARD_CHANGE, /* struct seam_end: somebody switched the audit system on or off */
    SEAM_HEARD_OUT,    /* struct seam_end: the answer to SEAM_HEAR_OUT, with its value */

    /* warden -> ear */
    SEAM_HEAR_OUT = 240, /* struct seam_end, value = a process: tell all that its domain has met */

    /* warden -> reader; reader -> warden */
    SEAM_READ = 256, /* struct seam_read; descriptors: the directories that are read in */
    SEAM_FOUND,      /* struct seam_found, one for each question, in order */

    /* warden -> maker; maker -> warden */
    SEAM_MAKE = 352, /* struct seam_make; descriptor 0: the seat home */
    SEAM_MADE,       /* struct seam_made, one for each path; descriptor 0 if error == 0 */

    /* warden -> zygote; zygote -> warden */
    SEAM_BEAR = 288, /* struct seam_bear; descriptors: the child's channel, [its cgroup] */
    SEAM_BORN,       /* struct seam_born, one for each, in order; descriptor: the child's pidfd */

    /* warden -> dialer; dialer -> warden */
    SEAM_DIAL = 312, /* struct seam_dial */
    SEAM_DIALED,     /* struct seam_door_socket; descriptor 0 if error == 0 */

    /* warden -> door */
    SEAM_DOOR_SERVE = 320, /* struct seam_door; descriptors: the listening sockets, then as its
                              indices say */
    SEAM_DOOR_ALLOW,       /* struct seam_host: one more on the list */
    SEAM_DOOR_DENY,        /* struct seam_host: off the list, with what is open to it */
    SEAM_DOOR_SOCKET,      /* struct seam_door_socket: the answer to SEAM_DOOR_DIAL */
    SEAM_DOOR_END,         /* struct seam_end: the leg is over: tell what is open, and end */

    /* door -> warden */
    SEAM_DOOR_READY = 336, /* struct seam_failed: error 0: it serves */
    SEAM_DOOR_TOLD,        /* struct seam_event: a decision, or the end of a connection */
    SEAM_DOOR_DIAL,        /* struct seam_door_dial: a socket to a forward's path is wanted */
    /* warden -> unpacker */
    SEAM_UNPACK = 384, /* struct seam_unpack; descriptors: an empty root, the staging directory, the
                        * source */
    SEAM_UNPACK_HAVE,  /* struct seam_unpack_have; descriptors: the layers that are there, in order
                        */
    SEAM_CLEAR,        /* struct seam_end; descriptors: an empty root, a directory to be emptied */

    /* unpacker -> warden */
    SEAM_UNPACK_LAYERS = 400, /* struct seam_unpack_layers -> SEAM_UNPACK_HAVE */
    SEAM_UNPACKED_LAYER,      /* struct seam_unpacked_layer: it stands in the staging directory */
    SEAM_UNPACKED_ACCOUNT,    /* struct seam_unpacked_account, one for each that the image knows */
    SEAM_UNPACKED,            /* struct seam_unpacked: the last */
    SEAM_UNPACK_REFUSED,      /* struct seam_unpack_refused: the last; nothing is to be kept */
    SEAM_CLEARED,             /* struct seam_end: 0, or a positive errno */
};

struct seam_end {
    uint64_t value;
};

struct seam_serve {
    uint32_t uid; /* for messages only: who asks is decided by the channel */
    uint32_t pid;
};

/* struct host_pattern of hosts.h, as it travels. */
struct seam_host {
    uint32_t kind, port;
    uint8_t address[16];
    uint32_t family;
    uint32_t reserved;
    struct seam_text name;
};

/* struct forward of forward.h. */
struct seam_forward {
    uint32_t kind, port;
    struct seam_host host;   /* FORWARD_TCP, FORWARD_TLS */
    struct seam_text path;   /* FORWARD_UNIX */
    struct seam_text header; /* FORWARD_TLS: the name of the field that is added; absent: none */
    int32_t key, ca;         /* indices of descriptors, or -1 */
};

struct seam_run {
    uint32_t boundary, view, net; /* UNSET: the default */
    uint32_t git, detach;         /* 0 or 1 */
    uint32_t n_grants, n_artefacts;
    struct limits limits;
    struct {
        uint32_t kind;
        int32_t
            descriptor; /* index into the message's descriptors, or -1: open PATH as requester */
        struct seam_text path;
        struct seam_text target; /* where it stands in a container; absent: at its own path */
    } grants[GRANTS_MAX];
    struct {
        struct seam_text path;
        uint64_t min_size;
        uint32_t has_sha256;
        uint8_t sha256[32];
        uint32_t reserved;
    } artefacts[ARTEFACTS_MAX];
    struct {
        uint32_t mode;      /* enum stream */
        int32_t descriptor; /* index, for STREAM_DESCRIPTOR; else -1 */
    } streams[3];
    struct seam_list argv;
    struct seam_list env; /* NAME=VALUE: added to the documented few, and wins over them */
    struct seam_list carve_outs;
    struct seam_text chdir;
    struct seam_text vendor;
    uint32_t n_hosts, n_forwards;
    struct seam_host hosts[HOSTS_MAX];
    struct seam_forward forwards[FORWARDS_MAX];
    struct seam_text image, user, host_name; /* of a container; absent: not asked */
    uint32_t writable_root;
    uint32_t measure;      /* 1: an arm of a cell */
    uint64_t capabilities; /* of a container: bits of capability.h */
};

struct seam_accepted {
    uint64_t leg;
    uint32_t stream_events[3]; /* 1 where a descriptor with that stream's read end comes along */
    uint32_t reserved;
};

struct seam_refused {
    uint32_t n_refusals;
    uint32_t client_status; /* 125, or 126/127 where exec itself was refused */
    uint64_t leg;           /* 0 when it never had a row */
    struct {
        uint32_t reason;
        uint32_t reserved;
        struct seam_text detail;
    } refusals[REFUSALS_MAX];
};

struct seam_verdict {
    uint64_t leg;
    uint32_t colour;
    int32_t client_status;
    int32_t wait_status; /* -1: not known */
    uint32_t n_reasons;
    uint32_t n_claims;
    uint32_t egress_cut; /* 0: the report must say "egress: not cut" */
    int64_t wall_us;     /* from the request's arrival to the last process gone */
    struct {
        uint32_t reason;
        uint32_t reserved;
        struct seam_text detail;
    } reasons[VERDICT_REASONS_MAX];
    struct {
        uint32_t claim;
        uint32_t reserved;
        uint64_t rungs;
    } claims[CLAIM_COUNT];
    struct seam_text kept; /* "stdout 10240 of 10240 bytes, stderr ..." when output was kept */
};

/* Where a leg is in its life. */
enum leg_state {
    LEG_BUILDING = 1,
    LEG_RUNNING = 2,
    LEG_ENDING = 3,
    LEG_ENDED = 4,
};

struct seam_leg {
    uint64_t leg;
    uint32_t uid, gid;
    uint32_t state; /* enum leg_state */
    uint32_t colour;
    uint32_t boundary, view, net;
    int32_t wait_status;
    int32_t client_status;
    uint32_t detach;
    int64_t asked_ms, ended_ms; /* wall clock; 0 = not yet */
    struct limits limits;
    struct seam_text vendor, directory, user, reasons; /* reasons: slugs with commas */
    struct seam_list argv;
    struct seam_list grants; /* "write /srv/x", ... */
};

struct seam_ask_leg {
    uint64_t leg;
    uint32_t follow;
    uint32_t reserved;
};

struct seam_ask_door {
    uint64_t leg;
    uint32_t deny; /* 1: deny; 0: allow */
    uint32_t reserved;
    struct seam_host host;
};

struct seam_ask_why {
    uint64_t leg;
    struct seam_text path; /* absolute, normal */
};

struct seam_why {
    uint64_t leg;
    uint32_t kind; /* enum why_kind */
    uint32_t read, write, execute, depends;
    uint32_t reserved;
    struct seam_text path, area;
};

struct seam_ask_legs {
    uint32_t all; /* ended ones too */
    uint32_t reserved;
};

struct seam_ask_status {
    uint32_t reserved[2];
};

struct seam_log {
    uint64_t leg;
    uint32_t stream;  /* 1 or 2 */
    uint32_t running; /* the leg still writes to it */
};

struct seam_status {
    uint64_t legs_running, slots_ready, legs_since_start;
    int64_t started_ms;
    uint32_t pid;
    uint32_t healthy;       /* 0: problem says why */
    uint32_t denials_heard; /* 1: the ear runs */
    uint32_t reserved;
    uint64_t denials_told, denials_unjoined, denials_lost;
    struct seam_text version, kernel, socket, state_directory, problem;
};

struct seam_rung {
    uint32_t rung, state;
    int32_t error;
    uint32_t reserved;
    int64_t value;
    struct seam_text detail;
    struct seam_text facet; /* absent: the rung itself */
};

struct seam_ask_machine {
    uint32_t measure; /* 1: measure again first */
    uint32_t reserved;
};

struct seam_machine {
    int64_t at_ms;    /* when it was measured */
    uint64_t took_us; /* the measuring */
    uint64_t row;     /* its number in the ledger; 0: it could not be written */
    struct seam_text kernel, distribution, boot_id, host, version, command;
};

struct seam_property {
    uint32_t state; /* enum rung_state */
    uint32_t reserved;
    struct seam_text slug, meaning, detail;
};

struct seam_rule {
    struct seam_text name, file, boundaries, views, nets, vendors, read, write, limits, hosts,
        capabilities;
};

/* -- stub -- */
struct seam_plan {
    uint64_t leg;
};

struct seam_ready {
    uint64_t build_us;
    struct seam_list led; /* paths that are read-only because a carve-out is a link to them */
};

struct seam_failed {
    uint32_t step; /* enum step of steps.h */
    int32_t error;
    struct seam_text subject;
};

struct seam_started {
    int32_t pid; /* inside the leg */
    uint32_t reserved;
};

struct seam_exited {
    int32_t wait_status;
    uint32_t output_exceeded;
    int64_t cpu_us, max_rss_bytes;
    uint64_t kept[2];      /* bytes kept of stdout, stderr, or that would be but for output= */
    uint64_t kept_lost[2]; /* bytes after them that could not be written */
};

/* A refused call as the stub saw it: the event as it is told on, and what of it is decided upon. */
struct seam_told {
    struct seam_event event;
    uint64_t flags;
    int32_t pid; /* inside the leg */
    uint32_t reserved;
    struct seam_text comm, exe; /* escaped */
};

/* -- checker: the state of each artefact, before the leg and after it -- */
struct artefact_stamp {
    int32_t error;    /* positive errno of the open, 0 = it is there */
    uint32_t regular; /* 1: a regular file */
    uint64_t dev, ino;
    uint64_t size;
    int64_t mtime_ns, ctime_ns;
    uint32_t hashed; /* 1: sha256 is filled */
    uint8_t sha256[32];
    uint32_t reserved;
};

enum check_hash {
    CHECK_HASH_NONE = 0,   /* the stamp alone */
    CHECK_HASH_WANTED = 1, /* the file's sha256; not to have it is an error */
    CHECK_HASH_OFFERED = 2 /* told as evidence where it is cheap, and left out where it is not */
};

struct seam_check {
    uint32_t n_artefacts;
    uint32_t reserved;
    struct {
        uint32_t descriptor;   /* index of the grant's descriptor */
        uint32_t hash;         /* 1: the file's sha256 is wanted; 0: its stamp alone */
        struct seam_text path; /* relative to it; "" when the grant is the file itself */
    } artefacts[ARTEFACTS_MAX];
};

struct seam_checked {
    uint32_t artefact; /* index */
    uint32_t reserved;
    struct artefact_stamp stamp;
};

/* -- opener -- */
struct seam_open {
    uint32_t n_paths;
    uint32_t reserved;
    struct {
        struct seam_text path; /* absolute */
        uint32_t follow_git;   /* 1: also find the linked worktree's directories, see opener */
        uint32_t reserved;
    } paths[GRANTS_MAX];
};

struct seam_opened {
    uint32_t path; /* index */
    int32_t error; /* positive errno, 0 = descriptor 0 is it (O_PATH) */
    uint32_t kind; /* enum grant_kind for what follow_git found, else 0 */
    uint32_t reserved;
    struct seam_text name;
};

/* Where a program really lies, and what it takes along. */
struct seam_find {
    struct seam_text program;   /* a word of the command */
    struct seam_text directory; /* absolute: where a relative word begins */
    struct seam_text search;    /* PATH */
    struct seam_text home;      /* never handed on as a whole; absent: none */
    struct seam_list before;    /* the command's words before it */
    uint32_t reserved;
};

enum trail_kind {
    TRAIL_DIRECTORY = 1, /* on the way */
    TRAIL_LINK,          /* on the way; target: what it says */
    TRAIL_FILE,          /* the program, or its interpreter; descriptor 0 (O_PATH) */
    TRAIL_PACKAGE,       /* what the program needs to see; descriptor 0 */
    TRAIL_RUNTIME,       /* what its interpreter needs to see; descriptor 0 */
    TRAIL_END,           /* error: 0, or why the way ended */
};

struct seam_trail {
    uint32_t kind;           /* enum trail_kind */
    int32_t error;           /* positive errno, of TRAIL_END */
    uint32_t interpreter;    /* 1: of the interpreter's, not the program's */
    uint32_t writable;       /* 1: the requester may change it, or what it is called */
    uint64_t dev, ino, size; /* of TRAIL_FILE */
    int64_t mtime_ns, ctime_ns;
    struct seam_text path, target; /* target of TRAIL_FILE: the name it was found by */
};

/* -- probe -- */
struct seam_probed {
    uint32_t rung, state;
    int32_t error;
    uint32_t reserved;
    int64_t value;
    struct seam_text detail;
    struct seam_text facet; /* absent: the rung itself */
};

/* -- ear: what the kernel told of Landlock domains; pids are the host's -- */
struct seam_heard {
    uint64_t domain;
    uint64_t blockers; /* bits of enum blocker */
    uint64_t count;    /* since the domain began */
    int64_t first_ms, last_ms;
    uint64_t ino;               /* 0: not a file */
    int32_t pid;                /* 0: who did it was not told */
    uint32_t further;           /* 1: all that found no place in the table, whatever its object */
    struct seam_text object;    /* a path, "daddr=127.0.0.1 dest=80", "opid=7 ocomm=x", or absent */
    struct seam_text dev;       /* absent: not a file */
    struct seam_text comm, exe; /* of the first; absent when not told */
};

enum heard_domain_state {
    HEARD_DOMAIN_ALLOCATED = 1,
    HEARD_DOMAIN_DEALLOCATED = 2,
};

struct seam_heard_domain {
    uint64_t domain;
    uint32_t state; /* enum heard_domain_state */
    int32_t pid;    /* who made it; 0 when it is gone */
    uint32_t uid;
    uint32_t reserved;
    int64_t at_ms;    /* the kernel's time of the record: the domain is older */
    uint64_t denials; /* DEALLOCATED: how many there were in all, as the kernel counted */
    uint64_t heard;   /* DEALLOCATED: of how many of them there was a record */
};

struct seam_heard_lost {
    uint64_t overruns;  /* times that the socket had no room: how many records, nobody knows */
    uint64_t malformed; /* records of a form that is not known */
};

/* -- reader: settings files, as the requester -- */
#define READ_QUESTIONS_MAX 256

enum read_kind {
    READ_KEY = 1,       /* the value of KEY in a JSON file */
    READ_HASH = 2,      /* the sha256 of the file */
    READ_KEPT_LINE = 3, /* the first line of kept output: the descriptor itself */
};

struct seam_read {
    uint32_t n_questions;
    uint32_t reserved;
    struct {
        uint32_t kind;         /* enum read_kind */
        int32_t descriptor;    /* index of the directory PATH is beneath; -1: PATH is absolute */
        struct seam_text path; /* absent: the JSON is TEXT itself */
        struct seam_text text;
        struct seam_text key; /* names with dots between them */
    } questions[READ_QUESTIONS_MAX];
};

struct seam_found {
    uint32_t question; /* index */
    uint32_t found;    /* enum nesting_found of nesting.h */
    uint8_t sha256[32];
    struct seam_text value; /* "true", "12", the string; "object", "array", "null" */
    struct seam_text why;   /* of FOUND_BROKEN */
};

/* -- zygote -- */
struct seam_bear {
    uint64_t namespaces; /* CLONE_NEW* flags */
    uint64_t value;      /* what the program makes of it: a front's uid */
};

struct seam_born {
    int32_t pid;
    int32_t error; /* positive errno: there is no child */
};

/* -- door -- */
#define DOOR_LISTENERS_MAX (FORWARDS_MAX + 2) /* HTTP, SOCKS5, then each forward */

struct seam_door {
    uint64_t leg;
    uint32_t n_hosts, n_forwards;
    int32_t resolv_conf; /* index of the system's resolver configuration; -1: RESOLVERS say it */
    int32_t authorities; /* index of the system's certificate authorities, or -1: there are none */
    struct seam_list resolvers; /* "192.0.2.1", "192.0.2.1:5353", "[2001:db8::1]:53" */
    struct seam_host hosts[HOSTS_MAX];
    struct seam_forward forwards[FORWARDS_MAX];
};

struct seam_door_dial {
    uint32_t forward; /* index */
    uint32_t serial;  /* carried back */
};

struct seam_dial {
    struct seam_text path; /* absolute */
};

struct seam_door_socket {
    uint32_t serial;
    int32_t error; /* positive errno; 0: descriptor 0 is it */
};

/* -- maker: the writable parts of a seat home -- */
struct seam_make {
    struct seam_list paths; /* relative, normal */
    uint32_t reserved;
};

struct seam_made {
    uint32_t path; /* index */
    int32_t error; /* positive errno, 0 = descriptor 0 is it (O_PATH) */
};
