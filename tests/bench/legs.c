/* legs [ROUNDS] - how long a slot and a leg of /bin/true take, without daemon and client: medians
 * and the fastest, in microseconds.  Prints figures and asserts nothing.
 */
#include "warden_play.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS_MAX 10000

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

static void print(const char *name, uint64_t *times, size_t count)
{
    qsort(times, count, sizeof(*times), compare);
    printf("%-52s median %6" PRIu64 " us, fastest %6" PRIu64 " us\n", name, times[count / 2],
        times[0]);
}

int main(int argc, char *argv[])
{
    static uint64_t slot[ROUNDS_MAX], wait[ROUNDS_MAX], build[ROUNDS_MAX], start[ROUNDS_MAX];
    static struct outcome outcome;
    const char *const program[] = {"/bin/true", NULL};
    const struct play play = {.uid = 1000, .gid = 1000, .argv = program};
    size_t rounds = argc > 1 ? (size_t)atoi(argv[1]) : 200;

    if (rounds == 0 || rounds > ROUNDS_MAX)
        return 2;
    for (size_t i = 0; i < rounds; i++) {
        if (play_run(&play, &outcome) != 0 || !outcome.exited || outcome.wait_status != 0) {
            fprintf(stderr, "a leg failed: step %s: %s\n", step_slug(outcome.fault.step),
                outcome.fault.subject);
            return 1;
        }
        slot[i] = outcome.slot_us;
        wait[i] = outcome.wait_us;
        build[i] = outcome.build_us;
        start[i] = outcome.start_us;
    }
    print("slot: seven namespaces, id map", slot, rounds);
    print("slot: until the stub waits", wait, rounds);
    print("leg: plan to READY, in the stub", build, rounds);
    print("leg: making the plan and its mounts, to STARTED", start, rounds);
    return 0;
}
