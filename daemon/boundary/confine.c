#include "confine.h"

#include "descriptor.h"
#include "identity.h"
#include "landlock.h"
#include "log.h"
#include "own.h"
#include "rlimit.h"
#include "steps.h"
#include "text.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#define ID_MAX (UINT32_MAX - 1) /* UINT32_MAX is "leave it as it is" to setresuid(2) */
#define DESCRIPTORS 1024

/* ---- the command line ---- */

static int parse_id(const char *text, uint32_t *ret)
{
    uint64_t value;
    int r = text_parse_uint(text, ID_MAX, &value);

    if (r == 0)
        *ret = (uint32_t)value;
    return r;
}

static int parse_groups(const char *text, struct confine_identity *identity)
{
    auto_free char *copy = strdup(text);
    char *rest = copy, *one;

    if (!copy)
        return -ENOMEM;
    while ((one = strsep(&rest, ","))) {
        int r;

        if (identity->n_groups == GROUPS_MAX)
            return -ERANGE;
        r = parse_id(one, &identity->groups[identity->n_groups]);
        if (r < 0)
            return r;
        identity->n_groups++;
    }
    return 0;
}

int confine_parse(int argc, char *const *argv, struct confine_identity *ret)
{
    struct confine_identity identity = {0};
    int r;

    if (argc != 3 && argc != 4)
        return -EINVAL;
    r = parse_id(argv[1], &identity.uid);
    if (r == 0)
        r = parse_id(argv[2], &identity.gid);
    if (r == 0 && argc == 4)
        r = parse_groups(argv[3], &identity);
    if (r < 0)
        return r;
    *ret = identity;
    return 0;
}

/* ---- the walls ---- */

static int leave_surroundings(void)
{
    (void)umask(077);
    if (chdir("/") < 0)
        return -errno;
    return descriptor_close_from(CONFINE_CHANNEL + 1, NULL, 0);
}

static int lower_limits(uint32_t cpu_seconds)
{
    int r;

    r = rlimit_lower(RLIMIT_CORE, 0);
    if (r == 0)
        r = rlimit_lower(RLIMIT_NPROC, 0);
    if (r == 0)
        r = rlimit_lower(RLIMIT_NOFILE, DESCRIPTORS);
    if (r == 0)
        r = rlimit_lower(RLIMIT_CPU, cpu_seconds);
    return r;
}

static int become(const struct confine_identity *identity)
{
    const struct identity becomes = {
        .uid = identity->uid,
        .gid = identity->gid,
        .groups = identity->groups,
        .n_groups = identity->n_groups,
    };
    uid_t uids[3];
    gid_t gids[3];
    int r = identity_give_up(&becomes);

    if (r < 0)
        return r;
    if (getresuid(&uids[0], &uids[1], &uids[2]) < 0 || getresgid(&gids[0], &gids[1], &gids[2]) < 0)
        return -errno;
    for (size_t i = 0; i < array_size(uids); i++) {
        if (uids[i] != identity->uid || gids[i] != identity->gid)
            return -EPERM;
    }
    return identity_is_powerless() ? 0 : -EPERM;
}

/* Nothing but reading (and, for one, making directories; for one, connecting to sockets): all that
 * the kernel can refuse is handled, and no rule allows any of it. Where there is no Landlock the
 * other walls are all there is: it is one more, not the only one. */
static int enter_domain(const struct confine_program *program)
{
    uint64_t let = LANDLOCK_FS_READ_FILE | LANDLOCK_FS_READ_DIR |
                   (program->makes_directories ? LANDLOCK_FS_MAKE_DIR : 0) |
                   (program->dials ? LANDLOCK_FS_RESOLVE_UNIX : 0);
    auto_close int ruleset = -EBADF;
    int abi = landlock_abi();

    if (abi == -ENOSYS || abi == -EOPNOTSUPP)
        return 0;
    if (abi < 0)
        return abi;
    ruleset = landlock_ruleset(
        landlock_fs_rights(abi) & ~let, landlock_net_rights(abi), landlock_scopes(abi));
    if (ruleset < 0)
        return ruleset;
    return landlock_restrict(ruleset, 0);
}

int confine_self(const struct confine_program *program, const struct confine_identity *identity,
    struct fault *ret_fault)
{
    int r;

    r = leave_surroundings();
    if (r < 0)
        return fault_set(ret_fault, STEP_STDIO, -r, "descriptors");
    r = lower_limits(program->cpu_seconds);
    if (r < 0)
        return fault_set(ret_fault, STEP_LIMITS, -r, "rlimits");
    r = become(identity);
    if (r < 0)
        return fault_set(ret_fault, STEP_IDENTITY, -r, "uid %u", identity->uid);
    /* The requester's other processes may not look into this one, nor trace it. */
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return fault_set(ret_fault, STEP_IDENTITY, errno, "not dumpable");
    r = enter_domain(program);
    if (r < 0)
        return fault_set(ret_fault, STEP_LANDLOCK, -r, "read-only domain");
    r = seccomp_install(program->filter);
    if (r < 0)
        return fault_set(ret_fault, STEP_SECCOMP, -r, "filter");
    return 0;
}

/* ---- serving ---- */

static int serve_one(const struct confine_program *program)
{
    struct pollfd waiting = {.fd = CONFINE_CHANNEL, .events = POLLIN};
    struct seam_message message;
    int r;

    r = seam_receive(CONFINE_CHANNEL, &message);
    if (r == -EAGAIN) /* the caller's choice of a channel that does not block */
        return poll(&waiting, 1, -1) < 0 && errno != EINTR ? -errno : 0;
    if (r != 0)
        return r;
    r = message.header.type == program->takes ||
                (program->takes_also && message.header.type == program->takes_also)
            ? program->serve(&message)
            : SEAM_E_MALFORMED;
    seam_message_done(&message);
    return r;
}

void confine_main(const struct confine_program *program, int argc, char *const *argv)
{
    struct confine_identity identity;
    struct fault fault;
    int r;

    log_open(program->name, LOG_LEVEL_INFO);
    if (confine_parse(argc, argv, &identity) < 0) {
        log_error("usage: %s UID GID [GROUP,...]: plain decimal numbers", program->name);
        _exit(2);
    }
    if (confine_self(program, &identity, &fault) < 0) {
        log_error(
            "step %s: %s: %s", step_slug(fault.step), fault.subject, fault_errno_name(fault.error));
        _exit(1);
    }
    do
        r = serve_one(program);
    while (r == 0);
    if (r == SEAM_E_CLOSED)
        _exit(0);
    log_error("the channel: %s", r < 0 ? fault_errno_name(-r) : "a message of another form");
    _exit(1); /* nothing runs at exit that the filter would have to let through */
}
