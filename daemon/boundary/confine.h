/* confine.h - the set-up of our own small programs: a process that turns hostile names into
 * answers.
 *
 * Checker and opener start as root, and before they read the first byte they are the requester
 * without any privilege: the walls stand first, then the channel is read.  One place, so that
 * neither has a wall less than the other.
 */
#pragma once

#include "channel.h"
#include "fault.h"
#include "messages.h"
#include "seccomp.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CONFINE_CHANNEL 3

struct confine_identity {
    uid_t uid;
    gid_t gid;
    gid_t groups[GROUPS_MAX];
    size_t n_groups;
};

struct confine_program {
    const char *name;                    /* "saphan-checker" */
    const struct seccomp_filter *filter; /* its list of system calls */
    uint32_t cpu_seconds;                /* RLIMIT_CPU: a bound of its own beside the caller's */
    uint16_t takes;                      /* the type of message it is sent */
    bool makes_directories;              /* its domain lets it, and nothing else */
    uint16_t takes_also;                 /* a second one, or 0 */

    bool dials; /* connects to sockets with a path */

    /* Answers one message on CONFINE_CHANNEL.  0 to go on; SEAM_E_*, -errno: the program ends. */
    int (*serve)(const struct seam_message *message);
};

/* "UID GID [GROUP,...]" behind the program's name: plain decimal numbers, exactly. -EINVAL,
 * -ERANGE (also for more than GROUPS_MAX groups, and for the number that means "no change"). */
int confine_parse(int argc, char *const *argv, struct confine_identity *ret);

/* Raises the walls, in an order in which each is still allowed to be raised: descriptors, limits,
 * capabilities and ids, not dumpable, Landlock (nothing is written, nothing executed) where the
 * kernel has it, system calls.  -errno with *RET_FAULT: the step that failed. */
int confine_self(const struct confine_program *program, const struct confine_identity *identity,
    struct fault *ret_fault);

/* The whole of main(): parse, confine, serve until the channel is closed.  Does not return: 0 when
 * the caller closed it, 1 on any failure, 2 for a wrong command line. */
_Noreturn void confine_main(const struct confine_program *program, int argc, char *const *argv);
