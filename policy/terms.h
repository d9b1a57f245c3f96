/* terms.h - the words of DESIGN.md as types.  One word per thing, everywhere.
 *
 * These numbers travel on the seam and lie in the ledger: append, never renumber.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum boundary {
    BOUNDARY_UNSET = 0,
    BOUNDARY_DOMAIN = 1,    /* the host's files, seen through grants, under a Landlock domain */
    BOUNDARY_CONTAINER = 2, /* a root file system of its own (not built yet: refused by name) */
    BOUNDARY_NONE = 3,      /* asked for by name, and always refused by name */
};

enum view {
    VIEW_UNSET = 0,
    VIEW_MINIMAL = 1, /* system directories and grants only */
    VIEW_HOST = 2,    /* everything readable; sockets and secrets masked */
};

enum net {
    NET_UNSET = 0,
    NET_NONE = 1, /* a network namespace with loopback only */
    NET_HOST = 2, /* the host's network: egress is not cut */
    NET_DOOR = 3, /* loopback, and the leg's door as the only way out */
    /* Where network namespaces do not hold: the host's network behind a lesser wall, each by the
     * name of its rung, and with a claim of its own.  Asked for by name, never chosen. */
    NET_LANDLOCK = 4,   /* no TCP connect, no TCP bind */
    NET_CGROUP_BPF = 5, /* no socket of IPv4 or IPv6 */
    NET_LAST = NET_CGROUP_BPF,
};

enum grant_kind {
    GRANT_READ = 1,       /* read and execute */
    GRANT_WRITE = 2,      /* and write */
    GRANT_WORKSPACE = 3,  /* write, default carve-outs, the leg's directory */
    GRANT_SEAT = 4,       /* write; the leg's HOME */
    GRANT_GIT_DIR = 5,    /* --git, linked worktree: its own gitdir, outside the workspace */
    GRANT_GIT_COMMON = 6, /* --git, linked worktree: the repository's common directory */
    GRANT_SEAT_READ =
        7, /* the leg's HOME, of which other grants are the writable parts: never asked for */
};

enum carve_out_kind {
    CARVE_OUT_ALWAYS = 1,     /* read-only if it exists, and cannot come to exist */
    CARVE_OUT_IF_PRESENT = 2, /* read-only if it exists */
    CARVE_OUT_PIN = 3,        /* stays writable, cannot be renamed or removed, and cannot come to
                                 exist (.git with --git) */
    /* As ALWAYS, where git reads the path: an absent one gets a file, not a directory, to hold its
     * place.  It bears the same mark and is removed as the directories are, if its content is
     * still what was put there. */
    CARVE_OUT_ALWAYS_FILE = 4, /* an empty file */
    CARVE_OUT_ALWAYS_HERE = 5, /* a file of ".\n": what .git/commondir says without being there */
};

enum colour {
    COLOUR_UNSET = 0,
    COLOUR_GREEN = 1,
    COLOUR_RED = 2,
    COLOUR_REFUSED = 3,       /* never started */
    COLOUR_INDETERMINATE = 4, /* we lost the means to know */
    COLOUR_NOTE = 5,          /* of a reason that is told and decides nothing: of no verdict */
};

/* How one of a leg's three standard streams is made. */
enum stream {
    STREAM_NULL = 0,       /* /dev/null of the leg */
    STREAM_DESCRIPTOR = 1, /* the client's own descriptor, passed through: no copy */
    STREAM_EVENTS = 2,     /* a pipe that the front reads and sends as Output frames */
    STREAM_KEEP = 3,       /* kept on disk by the stub: head and tail within limits.output */
};

/* Names as they stand on the wire, in policies and in output; "?" for an unknown number. */
const char *boundary_name(enum boundary boundary);
const char *view_name(enum view view);
const char *net_name(enum net net);
bool net_is_hosts(enum net net); /* no network namespace of the leg's own */
const char *grant_kind_name(enum grant_kind kind);
const char *colour_name(enum colour colour);

/* The reverse, exact. -EINVAL. */
int boundary_parse(const char *name, enum boundary *ret);
int view_parse(const char *name, enum view *ret);
int net_parse(const char *name, enum net *ret);
