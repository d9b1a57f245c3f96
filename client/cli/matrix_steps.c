/* matrix_steps.c - what is told to saphand and to people while a cell is measured. */
#include "matrix_measure.h"

#include "clock.h"
#include "descriptor.h"
#include "say.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- progress ---- */

int measure_line(const struct measure *measure, const char *event, json_t *extra)
{
    json_t *object = json_pack("{s:s, s:s, s:I, s:i, s:s}", "schema", JSON_SCHEMA_MATRIX, "event",
        event, "cell", (json_int_t)measure->cell, "arm", measure->arm, "name",
        matrix_arm_name((unsigned int)measure->arm));

    if (!object || !extra || json_object_update(object, extra) < 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(extra);
    return json_line(object);
}

void measure_clear_progress(struct measure *measure)
{
    if (measure->shown)
        (void)descriptor_write_all(STDERR_FILENO, "\r\033[K", strlen("\r\033[K"));
    measure->shown = false;
}

void measure_tick(void *context)
{
    struct measure *measure = context;
    uint64_t elapsed = (clock_monotonic_us() - measure->arm_since_us) / 1000;
    char line[160];

    if (measure->options.json) {
        (void)measure_line(measure, "progress",
            json_pack("{s:I, s:I}", "elapsed_ms", (json_int_t)elapsed, "bound_ms",
                (json_int_t)measure->arm_bound_ms));
        return;
    }
    if (!isatty(STDERR_FILENO))
        return;
    (void)snprintf(line, sizeof(line), "\r\033[Ksaphan: arm %d (%s): %llu s of at most %llu s",
        measure->arm, matrix_arm_name((unsigned int)measure->arm),
        (unsigned long long)(elapsed / 1000), (unsigned long long)(measure->arm_bound_ms / 1000));
    (void)descriptor_write_all(STDERR_FILENO, line, strlen(line));
    measure->shown = true;
}

/* ---- asking ---- */

int measure_await_end(struct measure *measure, uint64_t *ret_value, char *detail, size_t size)
{
    struct saphan_event event;
    struct saphan_error error;
    int r;

    for (;;) {
        r = saphan_next(measure->saphan, -1, NULL, &event, &error);
        if (r == -EINTR)
            continue;
        if (r != 0) {
            (void)say("%s", error.message);
            return -EIO;
        }
        if (event.kind == SAPHAN_EVENT_REFUSED && event.refused.n_reasons > 0) {
            const struct saphan_reason *reason = &event.refused.reasons[0];

            if (detail)
                (void)snprintf(detail, size, "%s: %s", reason->slug, reason->detail);
            else
                (void)say("%s: %s: %s", escaped(reason->slug), escaped(reason->detail),
                    escaped(reason->remedy));
            return STEP_REFUSED;
        }
        if (event.kind == SAPHAN_EVENT_END) {
            *ret_value = event.value;
            return 0;
        }
    }
}

static int send_arm(struct measure *measure, enum saphan_step step, const struct saphan_arm *arm,
    const char *const *argv, char *detail, size_t size)
{
    struct saphan_error error;
    uint64_t value;

    if (saphan_arm(measure->saphan, step, arm, argv, NULL, &error) != 0) {
        (void)say("%s", error.message);
        return -EIO;
    }
    return measure_await_end(measure, &value, detail, size);
}

char *measure_command(const char *const *argv)
{
    size_t count = 0;

    while (argv[count])
        count++;
    return matrix_quote(argv, count);
}

/* ---- one arm ---- */

int measure_begin_arm(struct measure *measure, int arm, const char *command,
    const char *const *control, char *refusal, size_t size)
{
    struct saphan_arm row = {
        .cell = measure->cell, .arm = (unsigned int)arm, .status = -1, .command = command};

    measure->arm = arm;
    measure->arm_since_us = clock_monotonic_us();
    measure->arm_bound_ms = arm < TURN ? CONTROL_MS : measure->wall_ms;
    if (measure->options.json)
        (void)measure_line(measure, "arm", json_pack("{s:s}", "state", "begun"));
    return send_arm(measure, SAPHAN_STEP_BEGIN, &row, control, refusal, size);
}

int measure_end_arm(struct measure *measure, const struct seen *seen, const char *command)
{
    uint64_t took = (clock_monotonic_us() - measure->arm_since_us) / 1000;
    struct saphan_arm row = {.cell = measure->cell,
        .leg = seen->leg,
        .arm = (unsigned int)measure->arm,
        .outcome = seen->outcome[0] ? seen->outcome : NULL,
        .status = seen->status,
        .begun_ms = seen->begun_ms,
        .command = command,
        .detail = seen->detail,
        .output = seen->output};
    int r = send_arm(measure, SAPHAN_STEP_END, &row, NULL, NULL, 0);

    measure_clear_progress(measure);
    if (r == 0 && measure->options.json)
        (void)measure_line(measure, "arm",
            json_pack("{s:s, s:I, s:I}", "state", "ended", "leg", (json_int_t)seen->leg, "took_ms",
                (json_int_t)took));
    return r == 0 ? 0 : EXIT_OURS;
}
