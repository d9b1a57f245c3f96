/* zygote_play.h - plays the warden for a zygote: starts saphan-front or saphan-stub of the build
 * that the test belongs to, and orders children. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct zygote_play {
    pid_t pid;
    int channel;
};

/* EXTRA becomes descriptor 4, or is -EBADF.  0 or -errno. */
int zygote_play_start(const char *program, int extra, struct zygote_play *ret);

/* 0 with a child of the caller's own; the zygote's positive errno; -errno when it was not to be
 * spoken with. */
int zygote_play_bear(const struct zygote_play *play, uint64_t namespaces, uint64_t value,
    int channel, pid_t *ret_pid, int *ret_pidfd);

/* Closes the channel and waits: the zygote's wait status, or -errno. */
int zygote_play_end(struct zygote_play *play);
