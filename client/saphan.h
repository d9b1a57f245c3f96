/* saphan.h - libsaphan: ask saphand to run legs, and hear how they end.
 *
 * A connection carries requests and gives back events, in order.  saphan_next() waits for the next
 * one and meanwhile pumps the standard streams that could not be passed by descriptor.  A
 * connection is not for two threads at once; two connections are.
 *
 *     struct saphan *saphan = NULL;
 *     struct saphan_error error;
 *     struct saphan_run run;
 *     struct saphan_event event;
 *
 *     saphan_run_init(&run);
 *     run.argv = argv;
 *     if (saphan_connect(NULL, &saphan, &error) || saphan_run(saphan, &run, NULL, &error))
 *         ...
 *     do {
 *         if (saphan_next(saphan, -1, NULL, &event, &error))
 *             ...
 *     } while (!event.last);
 *
 * Requests of one connection are answered one after the other: to kill a leg whose run is not over
 * yet, or to ask anything else meanwhile, use another connection.
 *
 * Results: 0; -errno; or a positive SAPHAN_E_*.  Where a struct saphan_error is taken it may be
 * NULL and is filled whenever the result is not 0.  Times are milliseconds since 1970 unless said
 * otherwise, sizes are bytes.  Text in events is what saphand sent: a path or a detail may hold any
 * byte but NUL, so escape it before a terminal sees it.
 *
 * Closing a connection ends the legs it asked for, unless they were asked for with `detach`.
 */
#ifndef SAPHAN_H
#define SAPHAN_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SAPHAN_SOCKET                                                                              \
    "/run/saphan/saphan.sock" /* unless the environment's SAPHAN_SOCKET says else */

enum saphan_result {
    SAPHAN_E_CLOSED = 1,   /* saphand ended the connection before the request had its end */
    SAPHAN_E_BUSY = 2,     /* saphand has too many connections: come again */
    SAPHAN_E_PROTOCOL = 3, /* what came breaks the protocol */
    SAPHAN_E_TIMEOUT = 4,  /* saphan_next(): nothing came in time */
    SAPHAN_E_VALUE = 5,    /* a value of the request cannot be right; nothing was asked */
    SAPHAN_E_GRANT = 6,    /* a grant is neither a directory nor a regular file */
    SAPHAN_E_WORKTREE = 7, /* the workspace's .git file points to what does not point back */
    SAPHAN_E_TOO_BIG = 8,  /* the request does not fit a frame */
};

struct saphan_error {
    char step[32];      /* a slug: connect, open-grants, ... */
    int error;          /* positive errno, or 0 */
    char message[1024]; /* one line for people, already escaped */
};

/* ---- what is asked ---- */

enum saphan_boundary {
    SAPHAN_BOUNDARY_DEFAULT = 0,
    SAPHAN_BOUNDARY_DOMAIN = 1,
    SAPHAN_BOUNDARY_CONTAINER = 2,
    SAPHAN_BOUNDARY_NONE = 3, /* always refused, by name */
};

enum saphan_view {
    SAPHAN_VIEW_DEFAULT = 0,
    SAPHAN_VIEW_MINIMAL = 1,
    SAPHAN_VIEW_HOST = 2,
};

enum saphan_net {
    SAPHAN_NET_DEFAULT = 0,
    SAPHAN_NET_NONE = 1,
    SAPHAN_NET_HOST = 2,
    SAPHAN_NET_DOOR = 3,
    SAPHAN_NET_LANDLOCK = 4,   /* the host's network: no TCP connect, no TCP bind */
    SAPHAN_NET_CGROUP_BPF = 5, /* the host's network: no socket of IPv4 or IPv6 */
};

enum saphan_grant_kind {
    SAPHAN_GRANT_READ = 1,
    SAPHAN_GRANT_WRITE = 2,
    SAPHAN_GRANT_WORKSPACE = 3, /* write, the default carve-outs, the leg's directory */
    SAPHAN_GRANT_SEAT = 4,      /* write; the leg's HOME */
};

struct saphan_grant {
    enum saphan_grant_kind kind;
    int fd; /* -1: the library opens PATH here, as the caller; else this descriptor is it */
    const char *path;   /* with a descriptor for messages only; may be relative */
    const char *target; /* where it stands in a container; NULL: at its own path */
};

struct saphan_forward { /* one loopback port of the leg that leads to one fixed target */
    uint16_t port;
    const char *target; /* "HOST:PORT", "unix:PATH", "https://HOST[:PORT]" */
    const char *header; /* https: a header field that the door adds; NULL: none */
    const char *key;    /* the file with the field's value, opened here as the caller */
    const char *ca;     /* https: a file with PEM certificates to trust; NULL: the system's */
};

struct saphan_artefact {
    const char *path; /* absolute, or relative to the leg's directory */
    uint64_t min_size;
    bool has_sha256;
    uint8_t sha256[32];
};

struct saphan_limits { /* 0: what the policy gives */
    uint64_t tasks;
    uint64_t memory;
    uint64_t cpu_percent;
    uint64_t wall_ms;
    uint64_t output;
    uint64_t files;
};

enum saphan_stream_mode {
    SAPHAN_STREAM_NULL = 0,
    SAPHAN_STREAM_FD = 1, /* FD itself where it is a pipe, a regular file, a connected Unix stream
                           * socket or /dev/null; else a pipe that saphan_next() pumps to or from
                           * FD: a leg never gets a terminal.  FD stays the caller's. */
    SAPHAN_STREAM_EVENTS = 2, /* SAPHAN_EVENT_OUTPUT, through a pipe; not for standard input */
    SAPHAN_STREAM_KEEP = 3,   /* kept by saphand: saphan_logs(); not for standard input */
};

struct saphan_stream {
    enum saphan_stream_mode mode;
    int fd;
};

struct saphan_run {
    size_t size;             /* saphan_run_init() sets it */
    const char *const *argv; /* NULL-terminated, at least one; or NULL: the image's */
    const char *const *env;  /* NULL-terminated NAME=VALUE, or NULL */
    enum saphan_boundary boundary;
    enum saphan_view view;
    enum saphan_net net;
    const char *vendor; /* NULL: proc, a plain program */
    const struct saphan_grant *grants;
    size_t n_grants;
    const char *const
        *carve_outs; /* NULL-terminated; absolute or relative to the workspace; or NULL */
    const struct saphan_artefact *artefacts;
    size_t n_artefacts;
    struct saphan_limits limits;
    struct saphan_stream in, out, err;
    const char *const *allow; /* NULL-terminated, net door: HOST[:PORT], *.HOST[:PORT]; or NULL */
    const struct saphan_forward *forwards; /* net door */
    size_t n_forwards;
    const char *directory; /* NULL: the workspace, else "/" */
    bool git;              /* the leg may commit in the workspace's repository */
    const char *image;     /* of a container, by its name */
    const char *user;      /* USER[:GROUP] of the image; NULL: as it says */
    const char *host_name; /* NULL: leg-ID */
    bool writable_root;    /* what is written to a container's root is kept while it runs */
    const char *const *capabilities; /* of a container: NULL-terminated CAP_CHOWN...; or NULL */
    const char *transport;           /* NULL or "local" */
    bool detach;  /* the leg outlives the connection; the request ends with ACCEPTED */
    bool measure; /* an arm of a cell of the matrix, for whom the policy lets measure */
};

/* ---- what comes back ---- */

enum saphan_colour {
    SAPHAN_COLOUR_UNSET = 0,
    SAPHAN_GREEN = 1,
    SAPHAN_RED = 2,
    SAPHAN_REFUSED = 3,
    SAPHAN_INDETERMINATE = 4,
};

enum saphan_leg_state {
    SAPHAN_LEG_UNSET = 0,
    SAPHAN_LEG_BUILDING = 1,
    SAPHAN_LEG_RUNNING = 2,
    SAPHAN_LEG_ENDING = 3,
    SAPHAN_LEG_ENDED = 4,
};

struct saphan_reason {
    const char *slug, *meaning, *remedy;
    const char *detail; /* what was asked, what was found; may be "" */
};

struct saphan_claim {
    const char *slug, *meaning;
    const char *const *rungs; /* NULL-terminated: what backs it on this machine */
};

enum saphan_event_kind {
    SAPHAN_EVENT_ACCEPTED = 1, /* the leg has a number and a durable row */
    SAPHAN_EVENT_STARTED = 2,  /* told.pid, inside the leg */
    SAPHAN_EVENT_DENIED =
        3, /* told.subject, told.detail, told.count, told.first_ms, told.last_ms */
    SAPHAN_EVENT_ARTEFACT = 4, /* told.subject, told.reason ("": good), told.size (-1: absent),
                                  told.detail: its sha256 */
    SAPHAN_EVENT_EXITED = 5,   /* told.wait_status, told.cpu_us, told.max_rss */
    SAPHAN_EVENT_NOTE = 6,     /* told.detail */
    SAPHAN_EVENT_OTHER = 7,    /* told.kind: a newer saphand's */
    SAPHAN_EVENT_OUTPUT = 8,
    SAPHAN_EVENT_REFUSED = 9,
    SAPHAN_EVENT_VERDICT = 10,
    SAPHAN_EVENT_LEG = 11,
    SAPHAN_EVENT_STATUS = 12,
    SAPHAN_EVENT_RUNG = 13,
    SAPHAN_EVENT_RULE = 14,
    SAPHAN_EVENT_END = 15,
    SAPHAN_EVENT_WHY = 16,
    SAPHAN_EVENT_CONNECTED = 17,    /* told.subject: HOST:PORT, told.detail, told.connection */
    SAPHAN_EVENT_DISCONNECTED = 18, /* told.subject, told.connection, told.bytes_out, bytes_in */
    SAPHAN_EVENT_DOOR = 19,         /* its list was changed: told.subject, told.detail */
    SAPHAN_EVENT_IMAGE = 20,
    SAPHAN_EVENT_MACHINE = 30,
    SAPHAN_EVENT_PROPERTY = 31,
    SAPHAN_EVENT_CELL = 32,
    SAPHAN_EVENT_ARM = 33, /* of the cell before it */
};

struct saphan_told {
    const char *kind; /* accepted started denied artefact exited note connected disconnected door */
    const char *reason; /* a slug, or "" */
    const char *subject, *detail;
    int64_t pid, count, size, wait_status, cpu_us, max_rss; /* as the kind says, else 0 */
    int64_t first_ms, last_ms;
    int64_t connection, bytes_out, bytes_in;
};

struct saphan_output {
    unsigned int stream; /* 1 or 2 */
    const void *bytes;
    size_t size;
    uint64_t lost; /* bytes of the stream that are missing before these */
};

struct saphan_refused {
    const struct saphan_reason *reasons;
    size_t n_reasons;
    int client_status; /* what `saphan run` exits with: 125, 126, 127 */
};

struct saphan_verdict {
    enum saphan_colour colour;
    int client_status; /* what `saphan run` exits with */
    bool exited;       /* wait_status is known; as waitpid(2) */
    int wait_status;
    int64_t wall_us;
    const struct saphan_reason *reasons;
    size_t n_reasons;
    const struct saphan_claim *claims;
    size_t n_claims;
    bool egress_cut;
    const char *kept; /* what was kept of the output; "" when none was */
};

struct saphan_leg {
    uint32_t uid;
    const char *user;
    enum saphan_leg_state state;
    enum saphan_colour colour;
    enum saphan_boundary boundary;
    enum saphan_view view;
    enum saphan_net net;
    const char *vendor;
    const char *const *argv; /* NULL-terminated */
    const char *directory;
    const char *const *grants; /* NULL-terminated: "write /srv/x" */
    int64_t asked_ms, ended_ms;
    bool exited;
    int wait_status;
    int client_status;
    const char *reasons; /* slugs with commas */
    struct saphan_limits limits;
    bool detach;
    bool cut; /* argv or grants were too long: their last elements are missing */
};

struct saphan_status {
    const char *version;
    uint32_t pid;
    int64_t started_ms;
    uint64_t legs_running, slots_ready, legs_since_start;
    bool healthy;
    const char *problem, *kernel, *socket, *state_directory;
    bool denials_heard; /* the kernel tells of Landlock's denials, and saphand hears it */
    uint64_t denials_told, denials_unjoined, denials_lost;
};

struct saphan_why {
    const char *path, *area;       /* area: "" where nothing holds the path */
    const char *decider, *meaning; /* decider: a slug, see saphan(1) */
    bool read, write, execute;
    bool depends; /* write: on what is there, as meaning says */
};

struct saphan_image {
    const char *name, *owner;
    uint32_t uid;       /* the owner's */
    uint8_t digest[32]; /* sha256 of its configuration */
    const char *architecture, *user, *directory;
    const char *const *env, *const *entrypoint, *const *command; /* NULL-terminated */
    uint32_t layers;
    uint64_t bytes, entries; /* unpacked */
    uint64_t shared_bytes;   /* of these, in layers that another image has too */
    int64_t added_ms;
    uint32_t legs; /* that run in it */
    bool cut;      /* the lists were too long: their last elements are missing */
};

struct saphan_rung {
    const char *slug, *state, *meaning, *detail;
    int64_t value;
    const char *facet; /* "": the rung itself; else what was measured beneath it */
    int error;         /* errno of the refusal, or 0 */
};

struct saphan_machine {
    uint64_t row; /* in the ledger */
    int64_t at_ms;
    uint64_t took_us;
    const char *kernel, *distribution, *boot_id, *host, *version;
    const char *command; /* measures it again */
};

/* A cell of the matrix.  What is not known is "". */
struct saphan_cell {
    uint64_t cell;
    const char *verdict;        /* BLANK NESTS COLLIDES HANGS INDETERMINATE */
    bool silent;                /* of COLLIDES: it ended with 0, and the artefact was not there */
    unsigned int arm;           /* which one decided */
    int64_t begun_ms, ended_ms; /* ended_ms 0: it was not ended */
    bool newest;
    const char *vendor;
    const char *vendor_version;
    const char *program;
    const char *sha256;
    const char *identity;
    const char *platform;
    const char *kernel;
    const char *distribution;
    const char *boot_id;
    const char *host;
    const char *saphan;
    const char *enclosure;
    const char *boundary;
    const char *walls;
    const char *sandbox;
    const char *user;
    const char *measured_by;
    const char *falsify;
    const char *origin;
    const char *hash;
    const char *why;
    const char *stale;
};

struct saphan_arm {
    uint64_t cell, leg;  /* leg 0: it was no leg */
    unsigned int arm;    /* 0 to 5 */
    const char *outcome; /* blank running held failed SILENT without-its-sandbox hung refused lost
                            unrunnable */
    int status;          /* as waitpid(2); -1: not known */
    int64_t begun_ms, ended_ms;
    const char *command, *detail, *output, *events;
};

enum saphan_step {
    SAPHAN_STEP_BEGIN = 1,
    SAPHAN_STEP_END = 2,
    SAPHAN_STEP_IMPORT = 3,
};

enum saphan_matrix_what {
    SAPHAN_MATRIX_NEWEST = 1, /* of each vendor, version, boundary, sandbox, host; and the blanks */
    SAPHAN_MATRIX_HISTORY = 2,
    SAPHAN_MATRIX_ONE = 3, /* the cell AFTER, with its arms */
};

struct saphan_property { /* what the row and the cells measured on it let say */
    const char *slug, *state, *meaning, *detail;
};

struct saphan_rule {
    const char *name, *file, *boundaries, *views, *nets, *vendors, *read, *write, *limits;
    const char *hosts;        /* what its doors may lead to */
    const char *capabilities; /* that a container may ask for; "": none */
};

/* All that it points to lives until the next call with the same connection. */
struct saphan_event {
    enum saphan_event_kind kind;
    bool last; /* ends its request */
    uint64_t request;
    uint64_t leg;  /* 0: none */
    int64_t at_ms; /* 0: not told */
    union {
        struct saphan_told told;
        struct saphan_output output;
        struct saphan_refused refused;
        struct saphan_verdict verdict;
        struct saphan_leg row;
        struct saphan_status status;
        struct saphan_why why;
        struct saphan_image image;
        struct saphan_rung rung;
        struct saphan_rule rule;
        struct saphan_machine machine;
        struct saphan_property property;
        struct saphan_cell cell;
        struct saphan_arm arm;
        uint64_t value;
    };
};

/* ---- calls ---- */

struct saphan;

/* Connects to the socket PATH; NULL: SAPHAN_SOCKET of the environment, else the one above. unix(7).
 */
int saphan_connect(const char *path, struct saphan **ret, struct saphan_error *error);

/* Takes over FD, a connected Unix stream socket: it is the connection's from here on, or is closed.
 */
int saphan_adopt(int fd, struct saphan **ret, struct saphan_error *error);

/* Closes; NULL is fine. */
void saphan_close(struct saphan *saphan);

/* Sets RUN to "nothing granted, all defaults, no streams". */
void saphan_run_init(struct saphan_run *run);

/* Opens what RUN names, and asks.  Nothing has been asked when the result is not 0.  RET_REQUEST,
 * here and below, may be NULL.  Pumping to a pipe that nobody reads raises SIGPIPE: a program that
 * lets its streams be pumped ignores that signal.  -errno of openat2(2), sendmsg(2);
 * SAPHAN_E_VALUE, _GRANT, _WORKTREE, _TOO_BIG. */
int saphan_run(struct saphan *saphan, const struct saphan_run *run, uint64_t *ret_request,
    struct saphan_error *error);

/* LEG events, END.  With ALL those that ended too. */
int saphan_legs(struct saphan *saphan, bool all, uint64_t *ret_request, struct saphan_error *error);

/* LEG, told events, perhaps VERDICT, END; or REFUSED. */
int saphan_show(
    struct saphan *saphan, uint64_t leg, uint64_t *ret_request, struct saphan_error *error);

/* OUTPUT events, END; or REFUSED.  With FOLLOW until the leg ends. */
int saphan_logs(struct saphan *saphan, uint64_t leg, bool follow, uint64_t *ret_request,
    struct saphan_error *error);

/* END; or REFUSED. */
int saphan_kill(
    struct saphan *saphan, uint64_t leg, uint64_t *ret_request, struct saphan_error *error);

/* Puts HOST on the list of a running leg's door (ALLOW), or takes it off and cuts what is open to
 * it. END; or REFUSED. */
int saphan_change_door(struct saphan *saphan, uint64_t leg, bool allow, const char *host,
    uint64_t *ret_request, struct saphan_error *error);

/* WHY, END; or REFUSED.  PATH is absolute, without . and .. */
int saphan_why(struct saphan *saphan, uint64_t leg, const char *path, uint64_t *ret_request,
    struct saphan_error *error);

/* Adds the image NAME from SOURCE: a directory, or a regular file that is open for reading alone;
 * REFERENCE names one of several in it, or is NULL.  IMAGE, END; or REFUSED. */
int saphan_image_add(struct saphan *saphan, const char *name, int source, const char *reference,
    uint64_t *ret_request, struct saphan_error *error);

/* IMAGE events, END.  NAME: that one; NULL: all that the caller may see. */
int saphan_images(
    struct saphan *saphan, const char *name, uint64_t *ret_request, struct saphan_error *error);

/* END; or REFUSED. */
int saphan_image_remove(
    struct saphan *saphan, const char *name, uint64_t *ret_request, struct saphan_error *error);

/* END, whose value is how many layers went. */
int saphan_image_gc(struct saphan *saphan, uint64_t *ret_request, struct saphan_error *error);

/* STATUS, RUNG events, RULE events (those that name the caller), END. */
int saphan_status(struct saphan *saphan, uint64_t *ret_request, struct saphan_error *error);

/* MACHINE, RUNG events, PROPERTY events, END; or REFUSED.  With MEASURE it is measured again first,
 * for whom the policy lets. */
int saphan_machine(
    struct saphan *saphan, bool measure, uint64_t *ret_request, struct saphan_error *error);

/* BEGIN and IMPORT: END, value = the cell's number.  END: CELL, ARM events, END.  Texts of CELL
 * that are NULL are not told; what saphand knows better it says itself. */
int saphan_cell(struct saphan *saphan, enum saphan_step step, const struct saphan_cell *cell,
    uint64_t *ret_request, struct saphan_error *error);

/* END.  An arm's row is written before it runs and amended after.  ARGV (NULL: none): of the
 * control, what the caller would run. */
int saphan_arm(struct saphan *saphan, enum saphan_step step, const struct saphan_arm *arm,
    const char *const *argv, uint64_t *ret_request, struct saphan_error *error);

/* CELL events, each with its ARM events if ARMS, then END: value > 0: there is more, ask again with
 * it as AFTER.  VENDOR NULL: all. */
int saphan_matrix(struct saphan *saphan, enum saphan_matrix_what what, const char *vendor,
    bool arms, uint64_t after, uint64_t *ret_request, struct saphan_error *error);

/* Waits for the next event, with the signal mask MASK while it waits (NULL: unchanged), as
 * ppoll(2); SAPHAN_E_TIMEOUT when nothing moved, in a pump neither, for TIMEOUT_MS (-1: for ever).
 * Output that was still in a pump is written before VERDICT is handed out.  -EINTR: a signal came.
 */
int saphan_next(struct saphan *saphan, int timeout_ms, const sigset_t *mask,
    struct saphan_event *ret, struct saphan_error *error);

/* For a loop of the caller's own: the descriptors that saphan_next() would wait for, at most MAX
 * (4 is always enough).  When one is ready call saphan_next() with timeout 0 until it says
 * SAPHAN_E_TIMEOUT, and ask again. */
size_t saphan_pollfds(struct saphan *saphan, struct pollfd *ret, size_t max);

/* Reads "tasks=64,memory=1G,cpu=150,wall=90s,output=10M,files=256" into LIMITS, leaving what is not
 * named.  SAPHAN_E_VALUE names what is wrong. */
int saphan_limits_parse(struct saphan_limits *limits, const char *text, struct saphan_error *error);

/* Reads "PATH[,min-size=SIZE][,sha256=HEX]".  TEXT is cut in place and RET->path points into it. */
int saphan_artefact_parse(char *text, struct saphan_artefact *ret, struct saphan_error *error);

/* Reads "PORT=TARGET[,header=NAME:@FILE][,ca=@FILE]"; the two behind the comma with https alone.
 * TEXT is cut in place and RET points into it. */
int saphan_forward_parse(char *text, struct saphan_forward *ret, struct saphan_error *error);

/* Names as they stand on the wire, in policies and in output; "?" for an unknown number. */
const char *saphan_boundary_name(enum saphan_boundary boundary);
const char *saphan_view_name(enum saphan_view view);
const char *saphan_net_name(enum saphan_net net);
const char *saphan_colour_name(enum saphan_colour colour);
const char *saphan_leg_state_name(enum saphan_leg_state state);

/* The reverse, exact.  SAPHAN_E_VALUE. */
int saphan_boundary_parse(const char *name, enum saphan_boundary *ret);
int saphan_view_parse(const char *name, enum saphan_view *ret);
int saphan_net_parse(const char *name, enum saphan_net *ret);

#ifdef __cplusplus
}
#endif

#endif
