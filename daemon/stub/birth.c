#include "birth.h"

#include "own.h"
#include "steps.h"
#include <errno.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIRTH_RAISED (-1)
#define STACK_SIZE (256U * 1024U)
#define GUARD_SIZE (64U * 1024U)

static int load(const int *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Sleeps while *WORD is VALUE.  Not the private kind: the kernel's own wake-up at exec is not. */
static void wait_while(int *word, int value)
{
    while (load(word) == value)
        (void)syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void set(int *word, int value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    (void)syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static int become(void *context)
{
    struct program *program = context;
    int r = boundary_raise(program->site, &program->listener, &program->fault);

    if (r < 0)
        _exit(1);
    set(&program->stage, BIRTH_RAISED);
    wait_while(&program->go, 0);
    /* Whatever was handed down to us, a leg's program has three descriptors. */
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0) {
        (void)fault_set(&program->fault, STEP_STDIO, errno, "descriptors");
        _exit(1);
    }
    r = program_execute(program->argv, program->env);
    (void)fault_set(&program->fault, STEP_EXEC, -r, "%s", program->argv[0]);
    _exit(1);
}

int program_raise(struct program *program)
{
    char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);

    program->listener = -EBADF;
    if (stack == MAP_FAILED || mprotect(stack, GUARD_SIZE, PROT_NONE) < 0)
        return fault_set(&program->fault, STEP_EXEC, errno, "stack");
    program->pid = clone(become, stack + STACK_SIZE,
        CLONE_VM | CLONE_FILES | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD, program,
        &program->stage, NULL, &program->stage);
    if (program->pid < 0)
        return fault_set(&program->fault, STEP_EXEC, errno, "clone");
    wait_while(&program->stage, program->pid);
    if (load(&program->stage) == BIRTH_RAISED)
        return 0;
    if (program->fault.step == STEP_NONE) /* by our own filter, or for want of memory */
        return fault_set(&program->fault, STEP_SECCOMP, ECHILD, "killed while raising the walls");
    return -program->fault.error;
}

int program_release(struct program *program)
{
    set(&program->go, 1);
    wait_while(&program->stage, BIRTH_RAISED);
    return program->fault.step == STEP_NONE ? 0 : -program->fault.error;
}
