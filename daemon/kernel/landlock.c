#include "landlock.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The numbers are the same on every architecture (they are newer than the common table). */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

#define CREATE_VERSION 1U
#define CREATE_ERRATA 2U
#define LAYERS_MAX 16 /* landlock(7), since Linux 5.19 */
#define RULE_PATH_BENEATH 1
#define RULE_NET_PORT 2

struct ruleset_attr {
    uint64_t fs, net, scoped;
};

struct path_beneath_attr {
    uint64_t rights;
    int32_t parent;
} __attribute__((packed));

struct net_port_attr {
    uint64_t rights, port;
};

struct level {
    int abi;
    uint64_t fs, net, scoped;
    uint32_t flags;
};

/* What each ABI brought. */
static const struct level levels[] = {
    {1, (LANDLOCK_FS_MAKE_SYM << 1) - 1, 0, 0, 0},
    {2, LANDLOCK_FS_REFER, 0, 0, 0},
    {3, LANDLOCK_FS_TRUNCATE, 0, 0, 0},
    {4, 0, LANDLOCK_NET_BIND_TCP | LANDLOCK_NET_CONNECT_TCP, 0, 0},
    {5, LANDLOCK_FS_IOCTL_DEV, 0, 0, 0},
    {6, 0, 0, LANDLOCK_SCOPED_ABSTRACT_UNIX | LANDLOCK_SCOPED_SIGNAL, 0},
    {7, 0, 0, 0,
        LANDLOCK_LOG_SAME_EXEC_OFF | LANDLOCK_LOG_NEW_EXEC_ON | LANDLOCK_LOG_SUBDOMAINS_OFF},
    {8, 0, 0, 0, LANDLOCK_TSYNC},
    {9, LANDLOCK_FS_RESOLVE_UNIX, 0, 0, 0},
};

static struct level level_of(int abi)
{
    struct level sum = {.abi = abi};

    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]) && levels[i].abi <= abi; i++) {
        sum.fs |= levels[i].fs;
        sum.net |= levels[i].net;
        sum.scoped |= levels[i].scoped;
        sum.flags |= levels[i].flags;
    }
    return sum;
}

uint64_t landlock_fs_rights(int abi)
{
    return level_of(abi).fs;
}

uint64_t landlock_net_rights(int abi)
{
    return level_of(abi).net;
}

uint64_t landlock_scopes(int abi)
{
    return level_of(abi).scoped;
}

uint32_t landlock_flags(int abi)
{
    return level_of(abi).flags;
}

int landlock_abi(void)
{
    long r = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, CREATE_VERSION);

    return r < 0 ? -errno : (int)r;
}

uint32_t landlock_errata(void)
{
    long r = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, CREATE_ERRATA);

    return r < 0 ? 0 : (uint32_t)r;
}

int landlock_ruleset(uint64_t fs, uint64_t net, uint64_t scoped)
{
    /* An older kernel takes the longer struct as long as what it does not know is zero. */
    struct ruleset_attr attr = {.fs = fs, .net = net, .scoped = scoped};
    long r = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0U);

    return r < 0 ? -errno : (int)r;
}

static int add_rule(int ruleset, int type, const void *attr)
{
    return syscall(SYS_landlock_add_rule, ruleset, type, attr, 0U) < 0 ? -errno : 0;
}

int landlock_allow_path(int ruleset, int path, uint64_t rights)
{
    struct path_beneath_attr attr = {.rights = rights, .parent = path};

    return add_rule(ruleset, RULE_PATH_BENEATH, &attr);
}

int landlock_allow_port(int ruleset, uint16_t port, uint64_t rights)
{
    struct net_port_attr attr = {.rights = rights, .port = port};

    return add_rule(ruleset, RULE_NET_PORT, &attr);
}

int landlock_restrict(int ruleset, uint32_t flags)
{
    return syscall(SYS_landlock_restrict_self, ruleset, flags) < 0 ? -errno : 0;
}

int landlock_layers(void)
{
    int ruleset = landlock_ruleset(LANDLOCK_FS_MAKE_SOCK, 0, 0), r = 0, left = 0;

    if (ruleset < 0)
        return ruleset;
    while (left <= LAYERS_MAX && (r = landlock_restrict(ruleset, 0)) == 0)
        left++;
    close(ruleset);
    if (left > LAYERS_MAX)
        return -ERANGE;
    return r == -E2BIG ? LAYERS_MAX - left : r;
}
