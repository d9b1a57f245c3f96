#include "answering.h"

#include "clock.h"
#include "own.h"
#include "say.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 2000

struct asking {
    pid_t child;
    int told; /* a byte for each path that answered */
    const char *const *paths;
    size_t count, answered;
    bool ended; /* no more will be told */
};

/* It may hang for as long as the file system does, and then holds nothing of its parent's open. */
static _Noreturn void ask(const char *const *paths, size_t count, int told)
{
    if (dup2(told, 0) < 0 || close_range(1, ~0U, 0) < 0)
        _exit(1);
    for (size_t i = 0; i < count; i++) {
        struct stat st;
        int fd = open(paths[i], O_PATH | O_CLOEXEC);

        if (fd >= 0 && fstat(fd, &st) == 0)
            close(fd);
        if (write(0, "", 1) != 1)
            break;
    }
    _exit(0);
}

static int begin(struct asking *asking, const char *const *paths, size_t count)
{
    int pair[2];

    *asking = (struct asking){.told = -EBADF, .paths = paths, .count = count};
    if (count == 0 || pipe2(pair, O_CLOEXEC) < 0)
        return -1; /* nobody could ask: then whoever opens it finds out */
    asking->told = pair[0];
    asking->child = fork();
    if (asking->child == 0)
        ask(paths, count, pair[1]);
    close(pair[1]);
    if (asking->child < 0)
        close_fd(&asking->told);
    return asking->child < 0 ? -1 : 0;
}

/* Until all have answered, or the time is up. */
static void hear(struct asking *asking, uint64_t within_ms)
{
    uint64_t deadline = clock_monotonic_us() + within_ms * 1000U;

    while (asking->answered < asking->count && !asking->ended) {
        struct pollfd waiting = {.fd = asking->told, .events = POLLIN};
        uint64_t now = clock_monotonic_us();
        char bytes[64];
        ssize_t n;

        if (now >= deadline)
            break;
        if (poll(&waiting, 1, (int)((deadline - now) / 1000) + 1) <= 0)
            continue;
        n = read(asking->told, bytes, sizeof(bytes));
        asking->ended = n == 0 || (n < 0 && errno != EINTR);
        asking->answered += n > 0 ? (size_t)n : 0;
    }
}

static void end(struct asking *asking)
{
    (void)kill(asking->child, SIGKILL);
    /* One that the kernel does not let go is not waited for. */
    (void)waitpid(asking->child, NULL, asking->answered < asking->count ? WNOHANG : 0);
    close_fd(&asking->told);
}

const char *first_unanswered(const char *const *paths, size_t count)
{
    struct asking asking;

    if (begin(&asking, paths, count) < 0)
        return NULL;
    hear(&asking, ANSWERING_MS);
    end(&asking);
    return asking.answered < count ? paths[asking.answered] : NULL;
}

/* Can the kernel say without asking the file system?  RESOLVE_CACHED: openat2(2), Linux 5.12. */
static bool is_known(const char *path)
{
    struct open_how how = {
        .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS | RESOLVE_CACHED};
    auto_close int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

    return fd >= 0 || errno != EAGAIN;
}

void await_answers(const char *const *paths, size_t count)
{
    auto_free const char **unknown = calloc(count + 1, sizeof(*unknown));
    struct asking asking;
    size_t n = 0, said = 0;

    for (size_t i = 0; unknown && i < count; i++) {
        if (!is_known(paths[i]))
            unknown[n++] = paths[i];
    }
    if (!unknown || begin(&asking, unknown, n) < 0)
        return;
    for (;;) {
        hear(&asking, PATIENCE_MS);
        if (asking.answered == n || asking.ended)
            break;
        if (asking.answered >= said)
            (void)say("waiting for %s: its file system does not answer",
                escaped(unknown[asking.answered]));
        said = asking.answered + 1;
    }
    end(&asking);
}
