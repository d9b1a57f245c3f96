#include "decode_cell.h"

#include "matrix.h"
#include "own.h"

static const struct {
    const char *field;
    size_t at, max;
} cell_texts[CELL_TEXT_COUNT] =
    {
#define CELL_TEXT(name, max)                                                                       \
    [CELL_TEXT_##name] = {"cell." #name, offsetof(Saphan__V1__Cell, name), max},
#include "cell_texts.def"
#undef CELL_TEXT
},
  arm_texts[ARM_TEXT_COUNT] = {
      [ARM_TEXT_COMMAND] = {"arm.command", offsetof(Saphan__V1__Arm, command), ARM_COMMAND_MAX},
      [ARM_TEXT_DETAIL] = {"arm.detail", offsetof(Saphan__V1__Arm, detail), ARM_DETAIL_MAX},
      [ARM_TEXT_OUTPUT] = {"arm.output", offsetof(Saphan__V1__Arm, output), ARM_OUTPUT_MAX},
      [ARM_TEXT_EVENTS] = {"arm.events", offsetof(Saphan__V1__Arm, events), ARM_EVENTS_MAX},
};

/* An empty text is absent. */
static int put_bytes(struct form *form, struct ask *ask, const char *field, const void *bytes,
    size_t max, struct seam_text *ret)
{
    const char *text;
    int r = form_text(form, field, bytes, max, &text);

    if (r == 0)
        *ret = seam_put_text(&ask->writer, text[0] ? text : NULL);
    return r;
}

static int finish(struct form *form, struct ask *ask)
{
    if (ask->writer.error == SEAM_E_FULL)
        return form_refuse(
            form, REASON_REQUEST_TOO_BIG, "cell: more than %u bytes", SEAM_STRINGS_MAX);
    return ask->writer.error;
}

int decode_cell(struct form *form, const Saphan__V1__CellStep *step, struct ask *ask)
{
    struct seam_cell *out = &ask->fixed.cell;
    enum cell_verdict verdict = CELL_BLANK;
    const Saphan__V1__Cell *cell = step->cell;
    int r = form_number(form, "cell_step.step", step->step, CELL_STEP_BEGIN, CELL_STEP_IMPORT);

    if (r == 0 && !cell)
        r = form_malformed(form, "cell_step.cell: absent");
    if (r == 0 && cell->verdict[0] && cell_verdict_parse(cell->verdict, &verdict) < 0)
        r = form_malformed(form, "cell.verdict: not a verdict");
    if (r == 0)
        r = form_number(form, "cell.arm", cell->arm, 0, ARM_COUNT - 1);
    if (r != 0)
        return r;
    seam_writer_init(&ask->writer, SEAM_ASK_CELL, 0);
    *out = (struct seam_cell){.cell = cell->cell,
        .step = step->step,
        .verdict = verdict,
        .silent = cell->silent != 0,
        .arm = cell->arm,
        .begun_ms = cell->begun_ms,
        .ended_ms = cell->ended_ms};
    for (size_t i = 0; r == 0 && i < CELL_TEXT_COUNT; i++)
        r = put_bytes(form, ask, cell_texts[i].field, (const char *)cell + cell_texts[i].at,
            cell_texts[i].max, &out->texts[i]);
    return r != 0 ? r : finish(form, ask);
}

int decode_arm(struct form *form, const Saphan__V1__ArmStep *step, struct ask *ask)
{
    struct seam_arm *out = &ask->fixed.arm;
    enum arm_outcome outcome = OUTCOME_BLANK;
    const Saphan__V1__Arm *arm = step->arm;
    const char *words[64];
    int r = form_number(form, "arm_step.step", step->step, CELL_STEP_BEGIN, CELL_STEP_IMPORT);

    if (r == 0 && !arm)
        r = form_malformed(form, "arm_step.arm: absent");
    if (r == 0 && arm->outcome[0] && outcome_parse(arm->outcome, &outcome) < 0)
        r = form_malformed(form, "arm.outcome: not an outcome");
    if (r == 0)
        r = form_number(form, "arm.arm", arm->arm, 0, ARM_COUNT - 1);
    if (r == 0 && step->n_argv > array_size(words))
        r = form_malformed(form, "arm_step.argv: more than %zu words", array_size(words));
    for (size_t i = 0; r == 0 && i < step->n_argv; i++)
        r = form_text(form, "arm_step.argv", &step->argv[i], ARM_COMMAND_MAX, &words[i]);
    if (r != 0)
        return r;
    seam_writer_init(&ask->writer, SEAM_ASK_ARM, 0);
    *out = (struct seam_arm){.cell = arm->cell,
        .leg = arm->leg,
        .step = step->step,
        .arm = arm->arm,
        .outcome = outcome,
        .status = arm->status,
        .begun_ms = arm->begun_ms,
        .ended_ms = arm->ended_ms};
    out->argv = seam_put_list(&ask->writer, words, step->n_argv);
    for (size_t i = 0; r == 0 && i < ARM_TEXT_COUNT; i++)
        r = put_bytes(form, ask, arm_texts[i].field, (const char *)arm + arm_texts[i].at,
            arm_texts[i].max, &out->texts[i]);
    return r != 0 ? r : finish(form, ask);
}

int decode_matrix(struct form *form, const Saphan__V1__Matrix *matrix, struct ask *ask)
{
    struct seam_ask_matrix *out = &ask->fixed.matrix;
    int r = form_number(form, "matrix.what", matrix->what, MATRIX_NEWEST, MATRIX_ONE);

    if (r != 0)
        return r;
    seam_writer_init(&ask->writer, SEAM_ASK_MATRIX, 0);
    *out = (struct seam_ask_matrix){
        .what = matrix->what, .arms = matrix->arms != 0, .after = matrix->after};
    return put_bytes(form, ask, "matrix.vendor", &matrix->vendor, 64, &out->vendor);
}
