#include "measures.h"

#include "audit.h"
#include "identity.h"
#include "landlock.h"
#include "own.h"
#include "scene.h"
#include <errno.h>
#include <sys/stat.h>

/* One act and what it is called. */
struct act {
    int (*run)(const struct scene *scene);
    const char *what;
};

/* What is handled, what is granted on `granted` and on `beside`, and which act is then decided. */
struct domain {
    uint64_t fs, net, scoped;
    uint64_t on_granted, on_beside;
    int refusal; /* -errno by which this right is refused */
    struct act allowed;
    struct act denied[2]; /* ends with run == NULL or the array */
};

static int enter(const struct domain *domain, const struct scene *scene)
{
    auto_close int ruleset = landlock_ruleset(domain->fs, domain->net, domain->scoped);
    int r;

    if (ruleset < 0)
        return ruleset;
    r = domain->on_granted ? landlock_allow_path(ruleset, scene->granted, domain->on_granted) : 0;
    if (r == 0 && domain->on_beside)
        r = landlock_allow_path(ruleset, scene->beside, domain->on_beside);
    if (r == 0)
        r = identity_no_new_privs();
    return r < 0 ? r : landlock_restrict(ruleset, 0);
}

/* True when every denied act of DOMAIN answers with WANTED; else *RET says what came instead. */
static bool all_answer(
    const struct domain *domain, const struct scene *scene, int wanted, struct rung *ret)
{
    for (size_t i = 0; i < array_size(domain->denied) && domain->denied[i].run; i++) {
        int r = domain->denied[i].run(scene);

        if (r == wanted)
            continue;
        if (wanted == 0)
            rung_broken(ret, r, domain->denied[i].what);
        else if (r == 0)
            rung_breached(ret, domain->denied[i].what);
        else
            rung_refused(ret, r, domain->denied[i].what);
        return false;
    }
    return true;
}

/* -EINVAL and -E2BIG are how landlock_create_ruleset(2) says that it does not know a right. */
static void measure_domain(const struct domain *domain, const struct scene *scene, struct rung *ret)
{
    int abi, r;

    abi = landlock_abi();
    if (abi < 0) {
        rung_refused_or_absent(ret, abi, EOPNOTSUPP, "landlock_create_ruleset");
        return;
    }
    if (!all_answer(domain, scene, 0, ret))
        return;
    r = enter(domain, scene);
    if (r < 0) {
        rung_refused_or_absent(ret, r, r == -E2BIG ? E2BIG : EINVAL, "a domain with this right");
        return;
    }
    r = domain->allowed.run(scene);
    if (r < 0) {
        rung_broken(ret, r, domain->allowed.what);
        return;
    }
    if (all_answer(domain, scene, domain->refusal, ret))
        rung_holds(ret, abi, "%s%s%s: refused; outside the domain it goes through",
            domain->denied[0].what, domain->denied[1].run ? ", " : "",
            domain->denied[1].run ? domain->denied[1].what : "");
}

static void measure_in_tree(const struct domain *domain, struct rung *ret)
{
    struct scene scene = {0};
    int r = scene_make_tree(&scene);

    if (r < 0)
        rung_broken(ret, r, "a tree to work in");
    else
        measure_domain(domain, &scene, ret);
}

void measure_landlock(const struct bench *bench, struct rung *ret)
{
    int abi = landlock_abi();
    uint64_t rights = landlock_fs_rights(abi < 1 ? 1 : abi);
    struct domain domain = {
        .fs = rights,
        .on_granted = rights,
        .refusal = -EACCES,
        .allowed = {scene_write_granted, "a write in the grant"},
        .denied = {{scene_write_outside, "a write"}, {scene_read_outside, "a read"}},
    };

    (void)bench;
    measure_in_tree(&domain, ret);
}

void measure_landlock_refer(const struct bench *bench, struct rung *ret)
{
    const uint64_t ordinary = LANDLOCK_FS_MAKE_REG | LANDLOCK_FS_REMOVE_FILE;
    struct domain domain = {
        .fs = ordinary | LANDLOCK_FS_REFER,
        .on_granted = ordinary | LANDLOCK_FS_REFER,
        .on_beside = ordinary,
        .refusal = -EXDEV,
        .allowed = {scene_rename_within, "a rename within the grant"},
        .denied = {{scene_rename_out, "a rename"}, {scene_link_out, "a link to another directory"}},
    };

    (void)bench;
    measure_in_tree(&domain, ret);
}

void measure_landlock_truncate(const struct bench *bench, struct rung *ret)
{
    struct domain domain = {
        .fs = LANDLOCK_FS_TRUNCATE,
        .on_granted = LANDLOCK_FS_TRUNCATE,
        .refusal = -EACCES,
        .allowed = {scene_truncate_granted, "O_TRUNC in the grant"},
        .denied = {{scene_truncate_outside, "O_TRUNC"}, {scene_resize_outside, "ftruncate"}},
    };

    (void)bench;
    measure_in_tree(&domain, ret);
}

void measure_landlock_ioctl(const struct bench *bench, struct rung *ret)
{
    struct domain domain = {
        .fs = LANDLOCK_FS_IOCTL_DEV,
        .refusal = -EACCES,
        .allowed = {scene_ioctl_descriptor, "an ioctl on the descriptor itself"},
        .denied = {{scene_ioctl_device, "an ioctl on a device"}},
    };

    (void)bench;
    measure_in_tree(&domain, ret);
}

void measure_landlock_net(const struct bench *bench, struct rung *ret)
{
    struct scene scene = {0};
    struct domain domain = {
        .net = LANDLOCK_NET_BIND_TCP | LANDLOCK_NET_CONNECT_TCP,
        .refusal = -EACCES,
        .allowed = {scene_signal_self, "a signal"},
        .denied = {{scene_connect_tcp, "a TCP connect"}, {scene_bind_tcp, "a TCP bind"}},
    };
    int r = scene_make_tcp_listener(&scene);

    (void)bench;
    if (r < 0)
        rung_broken(ret, r, "a listener on loopback");
    else
        measure_domain(&domain, &scene, ret);
}

void measure_landlock_scope(const struct bench *bench, struct rung *ret)
{
    struct scene scene = {0};
    struct domain domain = {
        .scoped = LANDLOCK_SCOPED_SIGNAL | LANDLOCK_SCOPED_ABSTRACT_UNIX,
        .refusal = -EPERM,
        .allowed = {scene_signal_self, "a signal to itself"},
        .denied = {{scene_signal_stranger, "a signal to a process outside"},
            {scene_connect_abstract, "an abstract socket outside"}},
    };
    int r = scene_make_abstract_listener(&scene);

    (void)bench;
    if (r == 0)
        r = scene_make_stranger(&scene);
    if (r < 0) {
        rung_broken(ret, r, "a process and a socket outside");
        return;
    }
    measure_domain(&domain, &scene, ret);
}

/* Enters a domain whose denials are to be told.  0, or -EINVAL: this kernel does not tell. */
static int enter_told(void)
{
    auto_close int ruleset = landlock_ruleset(LANDLOCK_FS_WRITE_FILE, 0, 0);
    int r;

    if (ruleset < 0)
        return ruleset;
    r = identity_no_new_privs();
    return r < 0 ? r : landlock_restrict(ruleset, LANDLOCK_LOG_NEW_EXEC_ON);
}

/* A denial is made, and the kernel's word of it waited for. */
void measure_landlock_audit(const struct bench *bench, struct rung *ret)
{
    auto_close int listener = -EBADF;
    struct scene scene = {0};
    struct stat outside;
    int abi = landlock_abi(), enabled, r;

    (void)bench;
    if (abi < 0) {
        rung_refused_or_absent(ret, abi, EOPNOTSUPP, "landlock_create_ruleset");
        return;
    }
    r = scene_make_tree(&scene);
    if (r == 0)
        r = scene_write_outside(&scene);
    if (r < 0 || fstatat(scene.root, "outside", &outside, 0) < 0) {
        rung_broken(ret, r < 0 ? r : -errno, "a write without the domain");
        return;
    }
    enabled = audit_enabled();
    listener = audit_listen();
    r = enter_told();
    if (r < 0)
        rung_refused_or_absent(ret, r, EINVAL, "landlock_restrict_self(LOG_NEW_EXEC_ON)");
    else if (enabled < 0)
        rung_refused_or_absent(ret, enabled, EPROTONOSUPPORT, "asking the audit system");
    else if (listener < 0)
        rung_refused(ret, listener, "listening to the audit system");
    else if (scene_write_outside(&scene) != -EACCES)
        rung_breached(ret, "a write in the domain");
    else if (!enabled)
        rung_refused(ret, -ENODATA, "the audit system is not enabled");
    else if ((r = audit_hear_denial(listener, outside.st_ino, ATTEMPT_WAIT_MS)) < 0)
        rung_refused(ret, r, "the kernel's word of a denial");
    else
        rung_holds(ret, abi, "a write was refused, and the kernel told of it");
}
