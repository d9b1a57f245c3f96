#include "enclosed.h"

#include "descriptor.h"
#include "first_namespace.h"
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* landlock(7); older headers lack them, and the daemon's are no room of a client's. */
#define CREATE_RULESET 444
#define RESTRICT_SELF 446
#define MAKE_SOCK (UINT64_C(1) << 9)
#define LAYERS_MAX 16

#define NOT_KNOWN 255

/* Nobody tells a process that it is in a domain, but the kernel stacks 16 and no more: what is
 * still to be had says what was there.  Uses them up, so in a child. */
static int count_layers(void)
{
    uint64_t handled[3] = {MAKE_SOCK, 0, 0};
    long ruleset = syscall(CREATE_RULESET, handled, sizeof(handled), 0U);
    int left = 0;

    if (ruleset < 0)
        return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : NOT_KNOWN;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return NOT_KNOWN;
    while (left <= LAYERS_MAX && syscall(RESTRICT_SELF, ruleset, 0U) == 0)
        left++;
    return left <= LAYERS_MAX && errno == E2BIG ? LAYERS_MAX - left : NOT_KNOWN;
}

static int layers_above(void)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(count_layers());
    if (pid < 0)
        return NOT_KNOWN;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return NOT_KNOWN;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : NOT_KNOWN;
}

static bool in_container(void)
{
    const char *left;

    return first_namespace_left(&left) < 0 || left;
}

static void add(char *out, size_t size, const char *what)
{
    size_t at = strlen(out);

    (void)snprintf(out + at, size - at, "%s%s", at ? ", " : "", what);
}

void enclosed_describe(char *out, size_t size)
{
    auto_free char *status = NULL;
    bool filtered;
    char layers[64];
    int n;

    out[0] = '\0';
    if (descriptor_read_file(AT_FDCWD, "/proc/self/status", 65536, &status) < 0) {
        add(out, size, "what is not known: /proc/self/status");
        return;
    }
    filtered = !strstr(status, "Seccomp:\t0\n");
    n = filtered ? NOT_KNOWN : layers_above(); /* a filter may end whoever asks */
    if (n > 0 && n < NOT_KNOWN) {
        (void)snprintf(layers, sizeof(layers), "a Landlock domain (%d of 16 layers)", n);
        add(out, size, layers);
    }
    if (in_container())
        add(out, size, "a container (not the first user and pid namespace)");
    if (filtered)
        add(out, size, "a seccomp filter");
    else if (n == NOT_KNOWN)
        add(out, size, "what is not known: Landlock layers could not be counted");
    if (!strstr(status, "NoNewPrivs:\t0\n"))
        add(out, size, "no_new_privs");
}
