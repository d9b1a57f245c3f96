/* environment.h - the environment of a leg: the documented few, and what the request adds. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENVIRONMENT_MAX 1024 /* variables in all */

/* Errors for the direct caller. */
enum {
    ENVIRONMENT_E_NAME = 1,     /* a name is empty, or the text has no "=" */
    ENVIRONMENT_E_TOO_MANY = 2, /* more than ENVIRONMENT_MAX variables */
};

struct leg_surroundings {
    uint64_t leg;
    uint32_t uid;
    const char *home; /* the leg's HOME, absolute */
    const char *user; /* the requester's name; NULL: its uid stands for it */
    bool door;        /* the leg has one: programs are told where it is */
    bool node, jvm;   /* and so are these, as the vendor's profile says */
};

/* Composes a NULL-terminated list of NAME=VALUE (environ(7)):
 *   PATH (without the sbin directories for others than root), HOME, LANG=C.UTF-8, TERM=dumb,
 *   TMPDIR=/tmp, USER, LOGNAME, SHELL=/bin/sh, SAPHAN_LEG=ID,
 *   with a door HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY and their small twins,
 *   and for what runs on them NODE_USE_ENV_PROXY=1 (node) and JAVA_TOOL_OPTIONS (the JVM),
 * then REQUESTED in its order.  A requested variable replaces one of the few; of two requested with
 * one name the last holds.  SAPHAN_LEG is ours: a request that sets it changes nothing.
 * 0, ENVIRONMENT_E_*, -ENOMEM.  *RET_BAD (may be NULL) is the text at fault, after E_NAME. */
int environment_compose(const struct leg_surroundings *about, const char *const *requested,
    size_t n_requested, char ***ret, const char **ret_bad);
/* PATH of the documented few. */
const char *environment_path(uint32_t uid);
void environment_free(char **environment); /* the list and its strings; NULL is fine */
