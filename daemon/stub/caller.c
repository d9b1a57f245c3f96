#include "caller.h"

#include "own.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 32
#define PID1 1

static ssize_t read_of(pid_t pid, const char *name, char *out, size_t size)
{
    auto_close int fd = -EBADF;
    char path[64];
    ssize_t n;

    (void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, out, size - 1);
    out[n < 0 ? 0 : n] = '\0';
    return n;
}

void caller_comm(pid_t pid, char *out, size_t size)
{
    char comm[32];
    ssize_t n = read_of(pid, "comm", comm, sizeof(comm));

    if (n > 0)
        comm[n - 1] = '\0'; /* the new line */
    text_escape_word(n > 0 ? comm : "?", out, size);
}

void caller_exe(pid_t pid, char *out, size_t size)
{
    char path[64], exe[PATH_MAX];
    ssize_t n;

    (void)snprintf(path, sizeof(path), "/proc/%d/exe", pid);
    n = readlink(path, exe, sizeof(exe) - 1);
    exe[n < 0 ? 0 : n] = '\0';
    text_escape_word(n < 0 ? "?" : exe, out, size);
}

/* The fourth field of /proc/PID/stat; the second, in brackets, may hold brackets and spaces. */
static pid_t parent_of(pid_t pid)
{
    char stat[512], *at;
    int parent;

    if (read_of(pid, "stat", stat, sizeof(stat)) <= 0)
        return 0;
    at = strrchr(stat, ')');
    return at && sscanf(at + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

void caller_chain(pid_t pid, char out[CALLER_CHAIN_MAX])
{
    size_t at = 0;

    out[0] = '\0';
    for (int depth = 0; depth < DEPTH_MAX && pid > PID1; depth++, pid = parent_of(pid)) {
        char comm[80];
        int n;

        caller_comm(pid, comm, sizeof(comm));
        n = snprintf(out + at, CALLER_CHAIN_MAX - at, "%s%s(%d)", at ? " " : "", comm, pid);
        if (n < 0 || at + (size_t)n + sizeof(" ...") > CALLER_CHAIN_MAX) {
            (void)strcpy(out + at, at ? " ..." : "...");
            return;
        }
        at += (size_t)n;
    }
}
