/* filters.h - the system call filters, compiled at build time from the lists in this folder.
 *
 * All are for seccomp_install(); those whose list tells calls need seccomp_install_listener().
 */
#pragma once

#include "seccomp.h"
#include <stdbool.h>

/* A leg: tells of what builds a sandbox and of what is dangerous.  Unknown calls fail with ENOSYS,
 * dangerous ones with EPERM, foreign ABIs are killed. */
extern const struct seccomp_filter filter_leg;

/* A leg that may build a sandbox of its own: nobody is told. */
extern const struct seccomp_filter filter_nested;

/* One more, above one of these: where Landlock's rules on TCP are the wall. */
extern const struct seccomp_filter filter_tcp;

/* What the listener of filter_leg may be told of; ends with number -1. */
struct filter_call {
    int number;
    const char *name;
    bool nests; /* it would build a sandbox; else it is dangerous, refused and told as well */
};
extern const struct filter_call filter_leg_told[];

/* Our own programs: a call that is not listed ends the process. */
extern const struct seccomp_filter filter_pid1;     /* the stub while its leg runs */
extern const struct seccomp_filter filter_front;    /* once it is isolated */
extern const struct seccomp_filter filter_checker;  /* once it has become the requester */
extern const struct seccomp_filter filter_opener;   /* the same */
extern const struct seccomp_filter filter_ear;      /* in its empty root */
extern const struct seccomp_filter filter_reader;   /* once it has become the requester */
extern const struct seccomp_filter filter_maker;    /* the same */
extern const struct seccomp_filter filter_door;     /* in its empty root */
extern const struct seccomp_filter filter_dialer;   /* once it has become the requester */
extern const struct seccomp_filter filter_unpacker; /* root of a user namespace for images */
