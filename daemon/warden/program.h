/* program.h - starting our own small programs, each with a channel and nothing else.
 *
 * No shell, no search path, no environment: the program is the descriptor that custody judged.
 * Descriptor 3 of the child is its channel, 4 what EXTRA names; 0 and 1 are /dev/null; 2 is ours.
 */
#pragma once

#include "warden.h"

struct program_child {
    pid_t pid;
    int pidfd;
    int channel; /* our end, non-blocking */
};

/* ARGV[0] is the program's name.  EXTRA is a descriptor or -EBADF.  0 or -errno; nothing is left on
 * failure. */
int program_start(struct warden *warden, enum program program, const char *const *argv, int extra,
    struct program_child *ret);

/* The same with N_EXTRA descriptors, which become 4, 5, ... */
int program_start_with(struct warden *warden, enum program program, const char *const *argv,
    const int *extra, size_t n_extra, struct program_child *ret);

/* Kills what still runs and closes its descriptors; it is reaped at once or, if it hangs in the
 * kernel, when that lets go of it: the warden waits for no one.
 * UID as in undertaker.h. */
void program_end(struct warden *warden, struct program_child *child, uint32_t uid);

/* Opens all of them in options.libexec. -errno with the name logged. */
int program_open_all(struct warden *warden);
const char *program_name(enum program program);

/* "1000", "1000", "4,24,27": the argv tail that checker and opener read. Static buffers of PEER's
 * size in ARGV_TEXT. */
struct program_identity {
    char uid[16], gid[16], groups[GROUPS_MAX * 11 + 1];
};
void program_identity(const struct peer *peer, struct program_identity *ret);
