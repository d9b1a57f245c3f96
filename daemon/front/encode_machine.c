/* encode_machine.c - the machine row, and what it lets say. */
#include "encode_body.h"

#include <errno.h>

int encode_machine(struct wording *wording, Saphan__V1__ServerFrame *frame)
{
    const struct seam_machine *machine = wording->message->fixed;
    Saphan__V1__MachineRow *out = wording_array(wording, 1, sizeof(*out));

    if (!out)
        return 0;
    saphan__v1__machine_row__init(out);
    out->row = machine->row;
    out->at_ms = machine->at_ms;
    out->took_us = machine->took_us;
    out->kernel = wording_string(wording, machine->kernel);
    out->distribution = wording_string(wording, machine->distribution);
    out->boot_id = wording_string(wording, machine->boot_id);
    out->host = wording_string(wording, machine->host);
    out->version = wording_string(wording, machine->version);
    out->command = wording_string(wording, machine->command);
    frame->body_case = SAPHAN__V1__SERVER_FRAME__BODY_MACHINE;
    frame->machine = out;
    return 0;
}

int encode_property(struct wording *wording, Saphan__V1__ServerFrame *frame)
{
    const struct seam_property *property = wording->message->fixed;
    Saphan__V1__Property *out = wording_array(wording, 1, sizeof(*out));

    if (property->state > RUNG_BROKEN)
        return -EINVAL;
    if (!out)
        return 0;
    saphan__v1__property__init(out);
    out->slug = wording_string(wording, property->slug);
    out->state = wording_constant(rung_state_name((enum rung_state)property->state));
    out->meaning = wording_string(wording, property->meaning);
    out->detail = wording_string(wording, property->detail);
    frame->body_case = SAPHAN__V1__SERVER_FRAME__BODY_PROPERTY;
    frame->property = out;
    return 0;
}
