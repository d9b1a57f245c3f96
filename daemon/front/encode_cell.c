/* encode_cell.c - cells of the matrix and their arms. */
#include "encode_body.h"
#include "matrix.h"

#include <errno.h>

static const size_t cell_at[CELL_TEXT_COUNT] = {
#define CELL_TEXT(name, max) [CELL_TEXT_##name] = offsetof(Saphan__V1__Cell, name),
#include "cell_texts.def"
#undef CELL_TEXT
};

int encode_cell(struct wording *wording, Saphan__V1__ServerFrame *frame)
{
    const struct seam_cell *cell = wording->message->fixed;
    Saphan__V1__Cell *out = wording_array(wording, 1, sizeof(*out));

    if (cell->verdict > CELL_INDETERMINATE || cell->arm >= ARM_COUNT)
        return -EINVAL;
    if (!out)
        return 0;
    saphan__v1__cell__init(out);
    out->cell = cell->cell;
    out->verdict = wording_constant(cell_verdict_name((enum cell_verdict)cell->verdict));
    out->silent = cell->silent != 0;
    out->arm = cell->arm;
    out->begun_ms = cell->begun_ms;
    out->ended_ms = cell->ended_ms;
    out->newest = cell->newest != 0;
    for (size_t i = 0; i < CELL_TEXT_COUNT; i++)
        *(ProtobufCBinaryData *)(void *)((char *)out + cell_at[i]) =
            wording_bytes(wording, cell->texts[i]);
    frame->body_case = SAPHAN__V1__SERVER_FRAME__BODY_CELL;
    frame->cell = out;
    return 0;
}

int encode_arm(struct wording *wording, Saphan__V1__ServerFrame *frame)
{
    const struct seam_arm *arm = wording->message->fixed;
    Saphan__V1__Arm *out = wording_array(wording, 1, sizeof(*out));

    if (arm->outcome >= OUTCOME_COUNT || arm->arm >= ARM_COUNT)
        return -EINVAL;
    if (!out)
        return 0;
    saphan__v1__arm__init(out);
    out->cell = arm->cell;
    out->arm = arm->arm;
    out->outcome = wording_constant(outcome_name((enum arm_outcome)arm->outcome));
    out->leg = arm->leg;
    out->status = arm->status;
    out->begun_ms = arm->begun_ms;
    out->ended_ms = arm->ended_ms;
    out->command = wording_bytes(wording, arm->texts[ARM_TEXT_COMMAND]);
    out->detail = wording_bytes(wording, arm->texts[ARM_TEXT_DETAIL]);
    out->output = wording_bytes(wording, arm->texts[ARM_TEXT_OUTPUT]);
    out->events = wording_bytes(wording, arm->texts[ARM_TEXT_EVENTS]);
    frame->body_case = SAPHAN__V1__SERVER_FRAME__BODY_ARM;
    frame->arm = out;
    return 0;
}
