/* matrix_outside.c - arm 5: the control, run by this program in its user's own session. */
#include "matrix_measure.h"

#include "clock.h"
#include "fault.h"
#include "own.h"
#include "say.h"
#include "text.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

char *measure_place(const struct measure *measure, const char *path)
{
    const char *base = measure->options.run.directory ? measure->options.run.directory
                                                      : measure->options.workspace;

    return path[0] == '/' || !base ? strdup(path) : text_format("%s/%s", base, path);
}

/* What is wrong with the artefacts that the control left; "" when nothing. */
static void judge_artefacts(const struct measure *measure, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < measure->options.run.n_artefacts && !out[0]; i++) {
        const struct saphan_artefact *artefact = &measure->options.run.artefacts[i];
        auto_free char *path = measure_place(measure, artefact->path);
        struct stat st;

        if (!path || lstat(path, &st) < 0)
            (void)snprintf(out, size, "the artefact %.400s is not there", artefact->path);
        else if (!S_ISREG(st.st_mode))
            (void)snprintf(out, size, "the artefact %.400s is not a regular file", artefact->path);
        else if ((uint64_t)st.st_size < artefact->min_size)
            (void)snprintf(out, size, "the artefact %.400s is too small", artefact->path);
    }
}

static void remove_artefacts(const struct measure *measure)
{
    for (size_t i = 0; i < measure->options.run.n_artefacts; i++) {
        auto_free char *path = measure_place(measure, measure->options.run.artefacts[i].path);

        if (path)
            (void)unlink(path);
    }
}

static const char *seat_of(const struct measure *measure)
{
    for (size_t i = 0; i < measure->options.run.n_grants; i++) {
        if (measure->options.grants[i].kind == SAPHAN_GRANT_SEAT)
            return measure->options.grants[i].path;
    }
    return NULL;
}

static void judge_control(
    const struct measure *measure, const struct control_end *end, struct seen *seen)
{
    bool good = WIFEXITED(end->status) && WEXITSTATUS(end->status) == 0;
    char missing[512];

    judge_artefacts(measure, missing, sizeof(missing));
    seen->status = end->status;
    if (end->error) {
        (void)snprintf(seen->outcome, sizeof(seen->outcome), "failed");
        (void)snprintf(seen->detail, sizeof(seen->detail), "it could not be started: %s",
            fault_errno_name(end->error));
    } else if (end->timed_out) {
        (void)snprintf(seen->outcome, sizeof(seen->outcome), "hung");
        (void)snprintf(seen->detail, sizeof(seen->detail),
            "%llu ms of processor time over %llu ms; its whole tree was ended",
            (unsigned long long)end->cpu_ms, (unsigned long long)end->took_ms);
    } else if (!good) {
        (void)snprintf(seen->outcome, sizeof(seen->outcome), "failed");
        (void)snprintf(seen->detail, sizeof(seen->detail), "%s %d%s%s",
            WIFEXITED(end->status) ? "exit" : "signal",
            WIFEXITED(end->status) ? WEXITSTATUS(end->status) : WTERMSIG(end->status),
            missing[0] ? "; " : "", missing);
    } else {
        (void)snprintf(seen->outcome, sizeof(seen->outcome), missing[0] ? "SILENT" : "held");
        (void)snprintf(seen->detail, sizeof(seen->detail), "%s", missing);
    }
}

int measure_control(struct measure *measure)
{
    auto_free char *command = measure_command(measure->control);
    const char *directory = measure->options.run.directory ? measure->options.run.directory
                                                           : measure->options.workspace;
    struct control_run run = {.argv = measure->control,
        .env = measure->options.env,
        .home = seat_of(measure),
        .directory = directory,
        .wall_ms = measure->wall_ms,
        .tick = measure_tick,
        .context = measure};
    struct seen seen = {.status = -1, .begun_ms = clock_wall_ms()};
    static struct control_end end;
    int r;

    if (!command)
        return say("out of memory");
    remove_artefacts(measure); /* what arm 4 left was seen */
    r = measure_begin_arm(
        measure, CONTROL, command, measure->control, seen.detail, sizeof(seen.detail));
    if (r == STEP_REFUSED) { /* the vendor's sandbox is off in it: nothing would hold */
        (void)snprintf(seen.outcome, sizeof(seen.outcome), "refused");
        return measure_end_arm(measure, &seen, command);
    }
    if (r != 0)
        return EXIT_OURS;
    r = control_run(&run, &end);
    if (r < 0)
        return say("the control could not be run: %s", fault_errno_name(-r));
    if (end.interrupted)
        return 128 + SIGINT;
    judge_control(measure, &end, &seen);
    memcpy(seen.output, end.output, sizeof(seen.output));
    r = measure_end_arm(measure, &seen, command);
    remove_artefacts(measure);
    return r;
}
