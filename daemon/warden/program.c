#include "program.h"

#include "log.h"
#include "text.h"
#include "undertaker.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define CHANNEL_FD 3
#define EXTRA_FD 4 /* the first */

const char *program_name(enum program program)
{
    static const char *const names[PROGRAM_COUNT] = {"saphan-front", "saphan-stub",
        "saphan-checker", "saphan-opener", "saphan-probe", "saphan-ear", "saphan-reader",
        "saphan-door", "saphan-maker", "saphan-dialer", "saphan-unpacker"};

    return names[program];
}

int program_open_all(struct warden *warden)
{
    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        auto_free char *path =
            text_format("%s/%s", warden->options.libexec, program_name((enum program)i));

        if (!path)
            return -ENOMEM;
        warden->programs[i] = open(path, O_PATH | O_CLOEXEC);
        if (warden->programs[i] < 0) {
            int error = errno;

            log_error("%s: %s: reinstall saphan, or name its folder with --libexec", path,
                strerror(error));
            return -error;
        }
    }
    return 0;
}

/* Signals as a program expects them, whatever we block or ignore. */
static int set_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    int r;

    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    r = posix_spawnattr_setsigmask(attributes, &none);
    if (r == 0)
        r = posix_spawnattr_setsigdefault(attributes, &all);
    if (r == 0)
        r = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    return -r;
}

static int set_descriptors(posix_spawn_file_actions_t *actions, struct warden *warden, int channel,
    const int *extra, size_t n_extra)
{
    int r;

    r = posix_spawn_file_actions_adddup2(actions, warden->null, STDIN_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(actions, warden->null, STDOUT_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(actions, channel, CHANNEL_FD);
    for (size_t i = 0; r == 0 && i < n_extra; i++)
        r = posix_spawn_file_actions_adddup2(actions, extra[i], EXTRA_FD + (int)i);
    return -r;
}

static int spawn(struct warden *warden, enum program program, const char *const *argv, int channel,
    const int *extra, size_t n_extra, pid_t *ret_pid)
{
    static char *const no_environment[] = {NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char path[32];
    int r;

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", warden->programs[program]);
    r = -posix_spawn_file_actions_init(&actions);
    if (r < 0)
        return r;
    r = -posix_spawnattr_init(&attributes);
    if (r == 0) {
        r = set_descriptors(&actions, warden, channel, extra, n_extra);
        if (r == 0)
            r = set_signals(&attributes);
        if (r == 0)
            r = -posix_spawn(ret_pid, path, &actions, &attributes, (char *const *)(uintptr_t)argv,
                no_environment);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return r;
}

int program_start(struct warden *warden, enum program program, const char *const *argv, int extra,
    struct program_child *ret)
{
    return program_start_with(warden, program, argv, &extra, extra >= 0, ret);
}

int program_start_with(struct warden *warden, enum program program, const char *const *argv,
    const int *extra, size_t n_extra, struct program_child *ret)
{
    auto_close int ours = -EBADF, theirs = -EBADF;
    int pair[2], pidfd, r;
    pid_t pid;

    r = seam_channel_pair(pair);
    if (r < 0)
        return r;
    ours = pair[0];
    theirs = pair[1];
    if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
        return -errno;
    r = spawn(warden, program, argv, theirs, extra, n_extra, &pid);
    if (r < 0)
        return r;
    /* Our own child that nobody has reaped: the number cannot have been used again. */
    pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0) {
        r = -errno;
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        return r;
    }
    *ret = (struct program_child){.pid = pid, .pidfd = pidfd, .channel = steal_fd(&ours)};
    return 0;
}

void program_end(struct warden *warden, struct program_child *child, uint32_t uid)
{
    if (child->pidfd >= 0)
        undertaker_bury(warden, steal_fd(&child->pidfd), uid);
    close_fd(&child->channel);
    child->pid = 0;
}

void program_identity(const struct peer *peer, struct program_identity *ret)
{
    size_t at = 0;

    (void)snprintf(ret->uid, sizeof(ret->uid), "%u", peer->uid);
    (void)snprintf(ret->gid, sizeof(ret->gid), "%u", peer->gid);
    ret->groups[0] = '\0';
    for (uint32_t i = 0; i < peer->n_groups; i++)
        at += (size_t)snprintf(
            ret->groups + at, sizeof(ret->groups) - at, "%s%u", i ? "," : "", peer->groups[i]);
}
