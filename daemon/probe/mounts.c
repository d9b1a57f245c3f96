#include "measures.h"

#include "inside.h"
#include "mount.h"
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define READ_ONLY (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

/* Two detached mounts of one tree: as it is, and id-mapped for the leg. */
struct pair {
    int plain, mapped;
    uid_t owner; /* of its root, as the host sees it */
};

/* 0 or -errno; *RET_CALL says of what. */
static int map_pair(struct pair *pair, int user_namespace, const char **ret_call)
{
    struct stat st;

    *ret_call = "fstat";
    if (fstat(pair->plain, &st) < 0)
        return -errno;
    pair->owner = st.st_uid;
    *ret_call = "mount_setattr(MOUNT_ATTR_IDMAP)";
    return mount_set(pair->mapped, MOUNT_ATTR_IDMAP | READ_ONLY, user_namespace, false);
}

/* Judged as the leg sees it.  True when both arms are as they should be. */
static bool judge_pair(const struct pair *pair, struct rung *ret)
{
    struct stat plain, mapped;

    if (fstat(pair->plain, &plain) < 0 || fstat(pair->mapped, &mapped) < 0)
        rung_broken(ret, -errno, "fstat inside");
    else if (plain.st_uid == pair->owner)
        rung_broken(ret, 0, "without the id map the leg sees the host's owner");
    else if (mapped.st_uid != pair->owner)
        rung_breached(ret, "the id-mapped owner is another");
    else
        return true;
    return false;
}

static void judge_inside(
    const struct pair *pair, int user_namespace, const char *path, struct rung *ret)
{
    if (setns(user_namespace, CLONE_NEWUSER) < 0)
        rung_broken(ret, -errno, "setns into the user namespace");
    else if (judge_pair(pair, ret))
        rung_holds(ret, 0, "%.60s keeps its owners; without the map they are nobody's", path);
}

/* The host's own /usr, which is in every leg's view.  Other file systems are tried when they are
 * granted: a tmpfs, for one, can be mapped only since Linux 6.3. */
static void measure_map_of(const struct bench *bench, const char *path, struct rung *ret)
{
    struct pair pair = {.plain = -EBADF, .mapped = -EBADF};
    const char *call = "a detached mount";
    struct inside inside;
    int r;

    r = inside_start(bench, 0, -EBADF, "cgroup", "", &inside);
    if (r < 0) {
        rung_broken(ret, r, "a user namespace to map to");
        return;
    }
    pair.plain = mount_clone(AT_FDCWD, path, 0);
    pair.mapped = mount_clone(AT_FDCWD, path, 0);
    r = pair.plain < 0 ? pair.plain : pair.mapped < 0 ? pair.mapped : 0;
    if (r == 0)
        r = map_pair(&pair, inside.child.user_namespace, &call);
    if (r < 0) {
        char what[100];

        (void)snprintf(what, sizeof(what), "%s of %.50s", call, path);
        rung_refused(ret, r, what);
    } else {
        judge_inside(&pair, inside.child.user_namespace, path, ret);
    }
    inside_end(&inside);
}

void measure_idmap(const struct bench *bench, struct rung *ret)
{
    measure_map_of(bench, "/usr", ret);
}

void measure_idmap_at(const struct bench *bench, struct rung *ret)
{
    measure_map_of(bench, bench->subject, ret);
}

void measure_proc_mount(const struct bench *bench, struct rung *ret)
{
    auto_close int control = mount_new("proc", NULL, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    int r;

    if (control == -ENOSYS || control == -ENODEV) {
        rung_refused_or_absent(ret, control, ENODEV, "a fresh proc file system");
        return;
    }
    if (control < 0) {
        rung_broken(ret, control, "a fresh proc file system outside");
        return;
    }
    r = inside_ask(bench, CLONE_NEWNS | CLONE_NEWPID, -EBADF, "proc", "", ret);
    if (r < 0)
        rung_broken(ret, r, "a child in user, mount and pid namespaces");
}
