#include "interrupt.h"

#include "own.h"

static volatile sig_atomic_t came;
static sigset_t before;

static void note_signal(int number)
{
    came = number;
}

void interrupt_watch(void)
{
    static const int watched[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note_signal}, old;
    sigset_t blocked;

    (void)sigemptyset(&blocked);
    for (size_t i = 0; i < array_size(watched); i++) {
        if (sigaction(watched[i], NULL, &old) < 0 || old.sa_handler == SIG_IGN)
            continue;
        (void)sigaddset(&blocked, watched[i]);
    }
    (void)sigprocmask(SIG_BLOCK, &blocked, &before);
    for (size_t i = 0; i < array_size(watched); i++) {
        if (sigismember(&blocked, watched[i]) != 1)
            continue;
        (void)sigdelset(&before, watched[i]);
        (void)sigaction(watched[i], &action, NULL);
    }
}

const sigset_t *interrupt_mask(void)
{
    return &before;
}

int interrupt_take(void)
{
    int number = came;

    came = 0;
    return number;
}
