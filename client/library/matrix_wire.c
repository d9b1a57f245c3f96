#include "matrix_wire.h"

#include "own.h"
#include <string.h>

static const struct field {
    size_t here, wire;
} cell_fields[] =
    {
#define CELL_TEXT(name, max) {offsetof(struct saphan_cell, name), offsetof(Saphan__V1__Cell, name)},
#include "cell_texts.def"
#undef CELL_TEXT
},
  arm_fields[] = {
      {offsetof(struct saphan_arm, command), offsetof(Saphan__V1__Arm, command)},
      {offsetof(struct saphan_arm, detail), offsetof(Saphan__V1__Arm, detail)},
      {offsetof(struct saphan_arm, output), offsetof(Saphan__V1__Arm, output)},
      {offsetof(struct saphan_arm, events), offsetof(Saphan__V1__Arm, events)},
};

static void put(const void *from, void *to, const struct field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *text;
        ProtobufCBinaryData bytes;

        memcpy(&text, (const char *)from + fields[i].here, sizeof(text));
        if (!text)
            continue;
        bytes = (ProtobufCBinaryData){strlen(text), (uint8_t *)(uintptr_t)text};
        memcpy((char *)to + fields[i].wire, &bytes, sizeof(bytes));
    }
}

static int take(cells_read *read, void *context, const void *from, void *to,
    const struct field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ProtobufCBinaryData bytes;
        const char *text;
        int r;

        memcpy(&bytes, (const char *)from + fields[i].wire, sizeof(bytes));
        r = read(context, &bytes, &text);
        if (r != 0)
            return r;
        memcpy((char *)to + fields[i].here, &text, sizeof(text));
    }
    return 0;
}

void cells_put_cell(const struct saphan_cell *cell, Saphan__V1__Cell *out)
{
    saphan__v1__cell__init(out);
    out->cell = cell->cell;
    if (cell->verdict)
        out->verdict = (char *)(uintptr_t)cell->verdict; /* protobuf-c does not write to it */
    out->silent = cell->silent;
    out->arm = cell->arm;
    out->begun_ms = cell->begun_ms;
    out->ended_ms = cell->ended_ms;
    put(cell, out, cell_fields, array_size(cell_fields));
}

void cells_put_arm(const struct saphan_arm *arm, Saphan__V1__Arm *out)
{
    saphan__v1__arm__init(out);
    out->cell = arm->cell;
    out->leg = arm->leg;
    out->arm = arm->arm;
    if (arm->outcome)
        out->outcome = (char *)(uintptr_t)arm->outcome;
    out->status = arm->status;
    out->begun_ms = arm->begun_ms;
    out->ended_ms = arm->ended_ms;
    put(arm, out, arm_fields, array_size(arm_fields));
}

int cells_read_cell(
    cells_read *read, void *context, const Saphan__V1__Cell *cell, struct saphan_event *ret)
{
    ret->kind = SAPHAN_EVENT_CELL;
    ret->at_ms = cell->begun_ms;
    ret->cell = (struct saphan_cell){.cell = cell->cell,
        .verdict = cell->verdict,
        .silent = cell->silent,
        .arm = cell->arm,
        .begun_ms = cell->begun_ms,
        .ended_ms = cell->ended_ms,
        .newest = cell->newest};
    return take(read, context, cell, &ret->cell, cell_fields, array_size(cell_fields));
}

int cells_read_arm(
    cells_read *read, void *context, const Saphan__V1__Arm *arm, struct saphan_event *ret)
{
    ret->kind = SAPHAN_EVENT_ARM;
    ret->leg = arm->leg;
    ret->at_ms = arm->begun_ms;
    ret->arm = (struct saphan_arm){.cell = arm->cell,
        .leg = arm->leg,
        .arm = arm->arm,
        .outcome = arm->outcome,
        .status = arm->status,
        .begun_ms = arm->begun_ms,
        .ended_ms = arm->ended_ms};
    return take(read, context, arm, &ret->arm, arm_fields, array_size(arm_fields));
}
