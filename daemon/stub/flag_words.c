#include "flag_words.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

struct word {
    uint64_t bit;
    const char *name;
};

static const struct word namespaces[] = {{CLONE_NEWTIME, "CLONE_NEWTIME"},
    {CLONE_NEWNS, "CLONE_NEWNS"}, {CLONE_NEWCGROUP, "CLONE_NEWCGROUP"},
    {CLONE_NEWUTS, "CLONE_NEWUTS"}, {CLONE_NEWIPC, "CLONE_NEWIPC"},
    {CLONE_NEWUSER, "CLONE_NEWUSER"}, {CLONE_NEWPID, "CLONE_NEWPID"},
    {CLONE_NEWNET, "CLONE_NEWNET"}, {CLONE_FS, "CLONE_FS"}, {CLONE_FILES, "CLONE_FILES"},
    {CLONE_VM, "CLONE_VM"}, {CLONE_VFORK, "CLONE_VFORK"}, {CLONE_SIGHAND, "CLONE_SIGHAND"},
    {CLONE_PARENT, "CLONE_PARENT"}, {CLONE_THREAD, "CLONE_THREAD"}, {0, NULL}};

static const struct word mounts[] = {{MS_RDONLY, "MS_RDONLY"}, {MS_NOSUID, "MS_NOSUID"},
    {MS_NODEV, "MS_NODEV"}, {MS_NOEXEC, "MS_NOEXEC"}, {MS_REMOUNT, "MS_REMOUNT"},
    {MS_BIND, "MS_BIND"}, {MS_MOVE, "MS_MOVE"}, {MS_REC, "MS_REC"}, {MS_SILENT, "MS_SILENT"},
    {MS_UNBINDABLE, "MS_UNBINDABLE"}, {MS_PRIVATE, "MS_PRIVATE"}, {MS_SLAVE, "MS_SLAVE"},
    {MS_SHARED, "MS_SHARED"}, {0, NULL}};

static const struct word unmounts[] = {{MNT_FORCE, "MNT_FORCE"}, {MNT_DETACH, "MNT_DETACH"},
    {MNT_EXPIRE, "MNT_EXPIRE"}, {UMOUNT_NOFOLLOW, "UMOUNT_NOFOLLOW"}, {0, NULL}};

static const struct word filters[] = {{SECCOMP_FILTER_FLAG_TSYNC, "SECCOMP_FILTER_FLAG_TSYNC"},
    {SECCOMP_FILTER_FLAG_LOG, "SECCOMP_FILTER_FLAG_LOG"},
    {SECCOMP_FILTER_FLAG_SPEC_ALLOW, "SECCOMP_FILTER_FLAG_SPEC_ALLOW"},
    {SECCOMP_FILTER_FLAG_NEW_LISTENER, "SECCOMP_FILTER_FLAG_NEW_LISTENER"}, {0, NULL}};

/* What the calls of the new mount family have in common, and what each has of its own. */
#define AT_WORDS                                                                                   \
    {AT_EMPTY_PATH, "AT_EMPTY_PATH"}, {AT_RECURSIVE, "AT_RECURSIVE"},                              \
        {AT_SYMLINK_NOFOLLOW, "AT_SYMLINK_NOFOLLOW"}, {AT_NO_AUTOMOUNT, "AT_NO_AUTOMOUNT"},        \
    {                                                                                              \
        0, NULL                                                                                    \
    }

static const struct word trees[] = {
    {OPEN_TREE_CLONE, "OPEN_TREE_CLONE"}, {OPEN_TREE_CLOEXEC, "OPEN_TREE_CLOEXEC"}, AT_WORDS};

static const struct word attributes[] = {AT_WORDS};

static const struct word moves[] = {{MOVE_MOUNT_F_SYMLINKS, "MOVE_MOUNT_F_SYMLINKS"},
    {MOVE_MOUNT_F_AUTOMOUNTS, "MOVE_MOUNT_F_AUTOMOUNTS"},
    {MOVE_MOUNT_F_EMPTY_PATH, "MOVE_MOUNT_F_EMPTY_PATH"},
    {MOVE_MOUNT_T_SYMLINKS, "MOVE_MOUNT_T_SYMLINKS"},
    {MOVE_MOUNT_T_AUTOMOUNTS, "MOVE_MOUNT_T_AUTOMOUNTS"},
    {MOVE_MOUNT_T_EMPTY_PATH, "MOVE_MOUNT_T_EMPTY_PATH"}, {0, NULL}};

static const struct word opens[] = {{FSOPEN_CLOEXEC, "FSOPEN_CLOEXEC"}, {0, NULL}};

static const struct word file_systems[] = {{FSMOUNT_CLOEXEC, "FSMOUNT_CLOEXEC"}, {0, NULL}};

static const struct word picks[] = {{FSPICK_CLOEXEC, "FSPICK_CLOEXEC"},
    {FSPICK_SYMLINK_NOFOLLOW, "FSPICK_SYMLINK_NOFOLLOW"},
    {FSPICK_NO_AUTOMOUNT, "FSPICK_NO_AUTOMOUNT"}, {FSPICK_EMPTY_PATH, "FSPICK_EMPTY_PATH"},
    {0, NULL}};

/* Newer than the headers. */
static const struct word rulesets[] = {{1U << 0, "LANDLOCK_CREATE_RULESET_VERSION"},
    {1U << 1, "LANDLOCK_CREATE_RULESET_ERRATA"}, {0, NULL}};

static const struct word restrictions[] = {{1U << 0, "LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF"},
    {1U << 1, "LANDLOCK_RESTRICT_SELF_LOG_NEW_EXEC_ON"},
    {1U << 2, "LANDLOCK_RESTRICT_SELF_LOG_SUBDOMAINS_OFF"}, {0, NULL}};

static const struct word *words_of(int number)
{
    switch (number) {
    case SYS_open_tree:
    case CALL_OPEN_TREE_ATTR:
        return trees;
    case SYS_mount_setattr:
        return attributes;
    case SYS_move_mount:
        return moves;
    case SYS_fsopen:
        return opens;
    case SYS_fsmount:
        return file_systems;
    case SYS_fspick:
        return picks;
    case SYS_landlock_create_ruleset:
        return rulesets;
    case SYS_landlock_restrict_self:
        return restrictions;
    case SYS_unshare:
    case SYS_clone:
    case SYS_setns:
        return namespaces;
    case SYS_mount:
        return mounts;
    case SYS_umount2:
        return unmounts;
    case SYS_seccomp:
        return filters;
    default:
        return NULL;
    }
}

static void add(char *out, size_t size, size_t *at, const char *word)
{
    int n = *at < size ? snprintf(out + *at, size - *at, "%s%s", *at ? "|" : "", word) : 0;

    *at += n > 0 ? (size_t)n : 0;
}

void flag_words(int number, uint64_t flags, char *out, size_t size)
{
    const struct word *words = words_of(number);
    size_t at = 0;
    char rest[32];

    out[0] = '\0';
    if (number == SYS_prctl) /* what stands there is no set of flags, but what is to be done */
        add(out, size, &at, flags == PR_SET_SECCOMP ? "PR_SET_SECCOMP" : "");
    if (!words)
        return;
    if (number == SYS_clone)
        flags &= ~UINT64_C(0xff); /* the signal that tells of the child's end */
    for (; words->name; words++) {
        if (!(flags & words->bit))
            continue;
        add(out, size, &at, words->name);
        flags &= ~words->bit;
    }
    if (flags == 0)
        return;
    (void)snprintf(rest, sizeof(rest), "0x%" PRIx64, flags);
    add(out, size, &at, rest);
}
