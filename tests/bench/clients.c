/* clients [COUNT [SECONDS]] - legs of /bin/true a second, asked for by COUNT connections at once
 * through libsaphan, as an engine asks: no program of ours is started for each.  Beside
 * tests/with-saphand; bench.py runs it.  Prints the number alone.
 */
#include <saphan.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CLIENTS_MAX 256

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double until;
static atomic_uint green;

static _Noreturn void fail(const struct saphan_error *error)
{
    fprintf(stderr, "clients: %s\n", error->message);
    exit(1);
}

/* Whatever else came: in words. */
static _Noreturn void not_green(const struct saphan_event *event)
{
    bool refused = event->kind == SAPHAN_EVENT_REFUSED;
    const struct saphan_reason *reasons = refused ? event->refused.reasons : event->verdict.reasons;
    size_t count = refused ? event->refused.n_reasons : event->verdict.n_reasons;

    fprintf(
        stderr, "clients: leg %llu of /bin/true is not GREEN\n", (unsigned long long)event->leg);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "  %s: %s\n", reasons[i].slug, reasons[i].detail);
    exit(1);
}

static void run_one(struct saphan *saphan)
{
    static const char *const argv[] = {"/bin/true", NULL};
    struct saphan_error error;
    struct saphan_event event;
    struct saphan_run run;
    uint64_t request;

    saphan_run_init(&run);
    run.argv = argv;
    if (saphan_run(saphan, &run, &request, &error) != 0)
        fail(&error);
    do {
        if (saphan_next(saphan, -1, NULL, &event, &error) != 0)
            fail(&error);
    } while (!event.last);
    if (event.kind != SAPHAN_EVENT_VERDICT || event.verdict.colour != SAPHAN_GREEN)
        not_green(&event);
    green++;
}

static void *client(void *unused)
{
    struct saphan *saphan;
    struct saphan_error error;

    if (saphan_connect(NULL, &saphan, &error) != 0)
        fail(&error);
    while (seconds_now() < until)
        run_one(saphan);
    saphan_close(saphan);
    return unused;
}

int main(int argc, char *argv[])
{
    int count = argc > 1 ? atoi(argv[1]) : 8;
    double begun = seconds_now();
    pthread_t threads[CLIENTS_MAX];

    if (count < 1 || count > CLIENTS_MAX)
        return 2;
    until = begun + (argc > 2 ? atof(argv[2]) : 3);
    for (int i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, client, NULL) != 0)
            return 1;
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%.1f\n", green / (seconds_now() - begun));
    return 0;
}
