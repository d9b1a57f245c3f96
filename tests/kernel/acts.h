/* acts.h - acts that no program of ours may be able to do behind its walls, each done in a child:
 * with the walls up, and without them as the control. */
#pragma once

#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- acts: true when the act was done ---- */

static inline bool act_open(void)
{
    return open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0;
}

static inline bool act_see(void)
{
    struct stat status;

    return stat("/etc", &status) == 0;
}

static inline bool act_create(void)
{
    return open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) >= 0;
}

static inline bool act_unix_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0;
}

static inline bool act_fork(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    return pid > 0;
}

static inline bool act_exec(void)
{
    char *argv[] = {(char *)(uintptr_t) "/bin/true", NULL};

    return execv(argv[0], argv) == 0; /* /bin/true ends with 0, as an act that was done */
}

static inline bool act_signal_others(void)
{
    return kill(getppid(), 0) == 0;
}

static inline bool act_become_root(void)
{
    return setresuid(0, 0, 0) == 0 && setgroups(0, NULL) == 0;
}

static inline bool act_leave_root(void)
{
    return chroot("..") == 0;
}

static inline bool act_have_descriptors(unsigned int count)
{
    for (unsigned int i = 0; i < count; i++) {
        if (fcntl(STDIN_FILENO, F_DUPFD, 0) < 0)
            return false;
    }
    return true;
}

/* ---- the child ---- */

struct named_act {
    const char *name;
    bool (*act)(void);
};

/* Makes ready for any act, and puts the walls up when WALLS says so.  False, and said on standard
 * error: it could not. */
typedef bool act_stage(bool walls);

enum { ACT_DONE = 0, ACT_NOT_DONE = 1, ACT_NO_STAGE = 2 };

/* No assert in the child: its verdict is its status.  Ended by a filter is not done. */
static inline int act_verdict(bool (*act)(void), act_stage *stage, bool walls)
{
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0)
        _exit(!stage(walls) ? ACT_NO_STAGE : act() ? ACT_DONE : ACT_NOT_DONE);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
        return ACT_NOT_DONE;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline void assert_walls_refuse(const struct named_act *acts, size_t count, act_stage *stage)
{
    for (size_t i = 0; i < count; i++) {
        int without = act_verdict(acts[i].act, stage, false),
            with = act_verdict(acts[i].act, stage, true);

        if (without != ACT_DONE || with != ACT_NOT_DONE)
            fail_msg("%s: without walls %d, with walls %d", acts[i].name, without, with);
    }
}
