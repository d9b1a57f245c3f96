/* matrix_arms.c - arms 0 to 4: each is a leg. */
#include "matrix_measure.h"

#include "clock.h"
#include "descriptor.h"
#include "interrupt.h"
#include "own.h"
#include "say.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>

/* ---- one leg ---- */

static void take_output(struct seen *seen, const struct saphan_output *output)
{
    const char *bytes = output->bytes;
    size_t fits = CONTROL_OUTPUT_MAX - seen->n_output;

    fits = output->size < fits ? output->size : fits;
    for (size_t i = 0; i < fits; i++)
        seen->output[seen->n_output + i] = bytes[i] ? bytes[i] : ' ';
    seen->n_output += fits;
    seen->more += output->size - fits + output->lost;
    seen->output[seen->n_output] = '\0';
}

/* True at its last event. */
static bool take_event(struct seen *seen, const struct saphan_event *event)
{
    switch (event->kind) {
    case SAPHAN_EVENT_ACCEPTED:
        seen->leg = event->leg;
        return false;
    case SAPHAN_EVENT_OUTPUT:
        take_output(seen, &event->output);
        return false;
    case SAPHAN_EVENT_VERDICT:
        seen->green = event->verdict.colour == SAPHAN_GREEN;
        return true;
    case SAPHAN_EVENT_REFUSED:
        seen->leg = event->leg; /* it may have had a row */
        seen->refused = true;
        (void)snprintf(seen->outcome, sizeof(seen->outcome), "refused");
        if (event->refused.n_reasons > 0)
            (void)snprintf(seen->detail, sizeof(seen->detail), "%s: %s",
                event->refused.reasons[0].slug, event->refused.reasons[0].detail);
        seen->leg = 0;
        return true;
    default:
        return false;
    }
}

/* 0, or the status to end with: interrupted, or the connection is gone. */
static int run_leg(struct measure *measure, const struct saphan_run *run, struct seen *seen)
{
    struct saphan_event event;
    struct saphan_error error;
    int r;

    if (saphan_run(measure->saphan, run, NULL, &error) != 0) { /* nothing was asked */
        (void)snprintf(seen->outcome, sizeof(seen->outcome), "refused");
        (void)snprintf(seen->detail, sizeof(seen->detail), "%.890s", error.message);
        seen->refused = true;
        return 0;
    }
    for (;;) {
        r = saphan_next(measure->saphan, 1000, interrupt_mask(), &event, &error);
        if (r == SAPHAN_E_TIMEOUT) {
            measure_tick(measure);
            continue;
        }
        if (r == -EINTR) {
            int number = interrupt_take();

            measure_clear_progress(measure);
            if (number) /* the end of our connection ends the leg; the cell says where we were */
                return 128 + number;
            continue;
        }
        if (r != 0) {
            measure_clear_progress(measure);
            return say("%s", error.message);
        }
        if (take_event(seen, &event))
            return 0;
    }
}

/* ---- what the arms are ---- */

static const char *const echo_argv[] = {"/bin/echo", "saphan", NULL};

/* What ARM runs, from the second word on in SCRATCH. */
static void fill_run(
    const struct measure *measure, int arm, struct saphan_run *run, const char *scratch[16])
{
    static const char writes[] = "printf '"
                                 "saphan wrote this\\n"
                                 "' >\"$1\"";
    static const char tries[] = "if (echo saphan >\"$1\"); then exit 9; fi; exit 0";
    static const char again[] = "/bin/sh \"$@\"; exit $?";
    size_t at = 0;

    *run = measure->options.run;
    run->measure = true;
    run->in = (struct saphan_stream){.mode = SAPHAN_STREAM_NULL, .fd = -1};
    run->out = run->err = (struct saphan_stream){.mode = SAPHAN_STREAM_EVENTS, .fd = -1};
    run->limits.wall_ms = arm == TURN ? measure->wall_ms : CONTROL_MS;
    if (arm == TURN)
        return;
    run->n_artefacts = 0;
    run->argv = arm == ECHO ? echo_argv : scratch;
    scratch[at++] = "/bin/sh";
    scratch[at++] = "-c";
    if (arm == GRANDCHILD) {
        for (int depth = 0; depth < 2; depth++) {
            scratch[at++] = again;
            scratch[at++] = "sh";
            scratch[at++] = "-c";
        }
    }
    scratch[at++] = arm == WRITE ? writes : tries;
    scratch[at++] = "sh";
    scratch[at++] = arm == WRITE ? measure->inside : measure->canary;
    scratch[at] = NULL;
}

/* The file outside is still what we put there. */
static bool canary_is_whole(const struct measure *measure)
{
    auto_free char *text = NULL;

    return descriptor_read_file(AT_FDCWD, measure->canary, 4096, &text) == 0 &&
           text_equal(text, WRITTEN);
}

static int add_artefact(
    const struct measure *measure, struct saphan_run *run, struct saphan_artefact *artefact)
{
    SHA2_CTX context;

    *artefact = (struct saphan_artefact){.path = measure->inside, .has_sha256 = true};
    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)WRITTEN, strlen(WRITTEN));
    SHA256Final(artefact->sha256, &context);
    run->artefacts = artefact;
    run->n_artefacts = 1;
    return 0;
}

/* Arms 0 to 4.  0, or the status to end with; *RET_HELD: it was GREEN. */
int measure_arm(struct measure *measure, int arm, bool *ret_held)
{
    struct saphan_artefact artefact;
    const char *scratch[16];
    struct saphan_run run;
    struct seen seen = {.status = -1, .begun_ms = clock_wall_ms()};
    auto_free char *command = NULL;
    int r;

    fill_run(measure, arm, &run, scratch);
    if (arm == WRITE)
        (void)add_artefact(measure, &run, &artefact);
    command = measure_command(run.argv);
    if (!command)
        return say("out of memory");
    r = measure_begin_arm(measure, arm, command, NULL, NULL, 0);
    if (r == 0)
        r = run_leg(measure, &run, &seen);
    if (r != 0)
        return r == STEP_REFUSED || r < 0 ? EXIT_OURS : r;
    if ((arm == OUTSIDE || arm == GRANDCHILD) && !canary_is_whole(measure)) {
        seen.leg = 0;
        seen.green = false;
        (void)snprintf(seen.outcome, sizeof(seen.outcome), "failed");
        (void)snprintf(seen.detail, sizeof(seen.detail),
            "THE WRITE WENT THROUGH: %.800s was changed", measure->canary);
    }
    *ret_held = seen.green && !seen.refused;
    return measure_end_arm(measure, &seen, command);
}
