#include "birth.h"

#include "channel.h"
#include "clock.h"
#include "messages.h"
#include "own.h"
#include "steps.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define STACK_SIZE (256U * 1024U)
#define GUARD_SIZE (64U * 1024U)

static int say_ready(struct program *program)
{
    const struct seam_ready ready = {.build_us = clock_monotonic_us() - program->asked_us};
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, SEAM_READY, 0);
    r = seam_send(program->channel, &writer, &ready, NULL, 0);
    seam_writer_done(&writer);
    return r;
}

/* Anything but GO, and the end of the channel too, is the end of the leg. */
static void wait_for_go(int channel)
{
    struct seam_message message;

    if (seam_receive(channel, &message) != 0 || message.header.type != SEAM_GO)
        _exit(1);
    seam_message_done(&message);
}

/* Runs in the parent's memory while the parent sleeps (CLONE_VM | CLONE_VFORK): so a failure is
 * told by writing it down, and the listener lands in the parent's table (CLONE_FILES); exec ends
 * both. */
static int become(void *context)
{
    struct program *program = context;
    int r;

    r = boundary_raise(program->site, &program->listener, &program->fault);
    if (r < 0)
        _exit(1);
    program->raised = true;
    r = say_ready(program);
    if (r != 0) {
        (void)fault_set(&program->fault, STEP_EXEC, r < 0 ? -r : EPIPE, "ready");
        _exit(1);
    }
    wait_for_go(program->channel);
    r = program_execute(program->argv, program->env);
    (void)fault_set(&program->fault, STEP_EXEC, -r, "%s", program->argv[0]);
    _exit(1);
}

int program_start(struct program *program, pid_t *ret_pid)
{
    char *stack;
    pid_t pid;

    program->listener = -EBADF;
    stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, GUARD_SIZE, PROT_NONE) < 0)
        return fault_set(&program->fault, STEP_EXEC, errno, "stack");
    pid =
        clone(become, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, program);
    if (pid < 0)
        return fault_set(&program->fault, STEP_EXEC, errno, "clone");
    (void)munmap(stack, STACK_SIZE);
    if (program->fault.step != STEP_NONE)
        return -program->fault.error;
    if (!program->raised) /* killed on the way: only by our own filter, or for want of memory */
        return fault_set(&program->fault, STEP_SECCOMP, ECHILD, "killed while raising the walls");
    *ret_pid = pid;
    return 0;
}
