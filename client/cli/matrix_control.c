#include "matrix_control.h"

#include "clock.h"
#include "interrupt.h"
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define TICK_MS 1000
#define BURY_MS 5000

static void take_output(int fd, struct control_end *end, bool *open)
{
    char buffer[4096];
    ssize_t n = read(fd, buffer, sizeof(buffer));
    size_t fits = CONTROL_OUTPUT_MAX - end->n_output;

    if (n <= 0) {
        *open = n < 0 && (errno == EINTR || errno == EAGAIN);
        return;
    }
    fits = (size_t)n < fits ? (size_t)n : fits;
    for (size_t i = 0; i < fits; i++)
        end->output[end->n_output + i] = buffer[i] ? buffer[i] : ' ';
    end->n_output += fits;
    end->more_output += (size_t)n - fits;
    end->output[end->n_output] = '\0';
}

static _Noreturn void child(const struct control_run *run, int out, int failed)
{
    int null = open("/dev/null", O_RDONLY);

    (void)setpgid(0, 0);
    (void)sigprocmask(SIG_SETMASK, interrupt_mask(), NULL);
    for (size_t i = 0; run->env && run->env[i]; i++)
        (void)putenv((char *)(uintptr_t)run->env[i]);
    if (run->home)
        (void)setenv("HOME", run->home, 1);
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(out, STDERR_FILENO) >= 0 && (!run->directory || chdir(run->directory) == 0))
        (void)execvp(run->argv[0], (char *const *)(uintptr_t)run->argv);
    (void)!write(failed, &errno, sizeof(errno));
    _exit(127);
}

/* Those whose parents are gone are ours, as a subreaper: prctl(2).  All of them are ended. */
static void kill_children(void)
{
    FILE *children = fopen("/proc/thread-self/children", "re");
    int pid;

    while (children && fscanf(children, "%d", &pid) == 1)
        (void)kill(pid, SIGKILL);
    if (children)
        (void)fclose(children);
}

static bool reap(pid_t first, int *status, bool *first_ended)
{
    int one;
    pid_t pid;

    while ((pid = waitpid(-1, &one, WNOHANG)) > 0) {
        if (pid != first)
            continue;
        *status = one;
        *first_ended = true;
    }
    return pid < 0; /* ECHILD: nobody is left */
}

static void bury(pid_t first, struct control_end *end, bool *first_ended)
{
    uint64_t deadline = clock_monotonic_us() + BURY_MS * 1000U;

    (void)kill(-first, SIGKILL);
    while (!reap(first, &end->status, first_ended) && clock_monotonic_us() < deadline) {
        kill_children();
        (void)poll(NULL, 0, 5);
    }
}

static void watch(const struct control_run *run, pid_t pid, int out, struct control_end *end)
{
    uint64_t began = clock_monotonic_us(), ticked = began;
    bool open = true, ended = false;

    for (;;) {
        struct pollfd waiting = {.fd = open ? out : -1, .events = POLLIN};
        uint64_t now = clock_monotonic_us();

        (void)reap(pid, &end->status, &ended);
        end->interrupted = interrupt_take() != 0;
        end->timed_out = now - began >= run->wall_ms * 1000;
        if (ended || end->interrupted || end->timed_out)
            break;
        if (now - ticked >= TICK_MS * 1000U) {
            ticked = now;
            run->tick(run->context);
        }
        (void)ppoll(&waiting, 1, &(struct timespec){.tv_nsec = 20000000}, interrupt_mask());
        if (open && waiting.revents)
            take_output(out, end, &open);
    }
    bury(pid, end, &ended);
    while (open) {
        struct pollfd waiting = {.fd = out, .events = POLLIN};

        if (poll(&waiting, 1, 0) <= 0)
            break;
        take_output(out, end, &open);
    }
    end->took_ms = (clock_monotonic_us() - began) / 1000;
}

static uint64_t cpu_ms(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_CHILDREN, &usage) < 0)
        return 0;
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

int control_run(const struct control_run *run, struct control_end *ret)
{
    auto_close int out = -EBADF, in = -EBADF, failed = -EBADF, fails = -EBADF;
    uint64_t before = cpu_ms();
    int pair[2];
    pid_t pid;

    *ret = (struct control_end){.status = -1};
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || pipe2(pair, O_CLOEXEC) < 0)
        return -errno;
    out = pair[0];
    in = pair[1];
    if (pipe2(pair, O_CLOEXEC) < 0)
        return -errno;
    failed = pair[0];
    fails = pair[1];
    pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0)
        child(run, in, fails);
    (void)setpgid(pid, pid);
    close_fd(&in);
    close_fd(&fails);
    watch(run, pid, out, ret);
    ret->cpu_ms = cpu_ms() - before;
    if (read(failed, &ret->error, sizeof(ret->error)) != sizeof(ret->error))
        ret->error = 0;
    return 0;
}
