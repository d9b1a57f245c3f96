#include "zygote_play.h"

#include "messages.h"
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define CHANNEL 3
#define EXTRA 4
#define PARKED 100 /* above both, so that no order of numbers can clash */

/* BUILD/tests/kernel/test_x -> BUILD/daemon/NAME */
static int find_program(const char *name, char *out, size_t size)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (n < 0)
        return -errno;
    self[n] = '\0';
    for (int i = 0; i < 3; i++)
        *strrchr(self, '/') = '\0';
    return snprintf(out, size, "%s/daemon/%s", self, name) < (int)size ? 0 : -ENAMETOOLONG;
}

static int spawn(const char *path, const char *name, int channel, int extra, pid_t *ret_pid)
{
    char *argv[] = {(char *)(uintptr_t)name, NULL}, *envp[] = {NULL};
    posix_spawn_file_actions_t actions;
    int r = posix_spawn_file_actions_init(&actions);

    if (r == 0)
        r = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, channel, PARKED);
    if (r == 0 && extra >= 0)
        r = posix_spawn_file_actions_adddup2(&actions, extra, PARKED + 1);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, PARKED, CHANNEL);
    if (r == 0 && extra >= 0)
        r = posix_spawn_file_actions_adddup2(&actions, PARKED + 1, EXTRA);
    if (r == 0)
        r = posix_spawn_file_actions_addclosefrom_np(&actions, extra >= 0 ? EXTRA + 1 : EXTRA);
    if (r == 0)
        r = posix_spawn(ret_pid, path, &actions, NULL, argv, envp);
    (void)posix_spawn_file_actions_destroy(&actions);
    return -r;
}

int zygote_play_start(const char *program, int extra, struct zygote_play *ret)
{
    auto_close int ours = -EBADF, theirs = -EBADF;
    char path[4200];
    int pair[2], r;

    r = find_program(program, path, sizeof(path));
    if (r == 0)
        r = seam_channel_pair(pair);
    if (r < 0)
        return r;
    ours = pair[0];
    theirs = pair[1];
    r = spawn(path, program, theirs, extra, &ret->pid);
    if (r < 0)
        return r;
    ret->channel = steal_fd(&ours);
    return 0;
}

int zygote_play_bear(const struct zygote_play *play, uint64_t namespaces, uint64_t value,
    int channel, pid_t *ret_pid, int *ret_pidfd)
{
    const struct seam_bear bear = {.namespaces = namespaces, .value = value};
    const struct seam_born *born;
    struct seam_message message;
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, SEAM_BEAR, 0);
    r = seam_send(play->channel, &writer, &bear, &channel, 1);
    seam_writer_done(&writer);
    if (r == 0)
        r = seam_receive(play->channel, &message);
    if (r != 0)
        return r < 0 ? r : -EPIPE;
    born = message.fixed;
    if (message.header.type != SEAM_BORN || (born->error == 0) != (message.n_descriptors == 1))
        r = -EBADMSG;
    else
        r = born->error;
    if (r == 0) {
        *ret_pid = born->pid;
        *ret_pidfd = steal_fd(&message.descriptors[0]);
    }
    seam_message_done(&message);
    return r;
}

int zygote_play_end(struct zygote_play *play)
{
    int status;

    close_fd(&play->channel);
    return waitpid(play->pid, &status, 0) < 0 ? -errno : status;
}
