/* encode_body.h - one function for each kind of body; encode.c has the table. */
#pragma once

#include "wording.h"

/* Fills FRAME's body from the message of WORDING.  0 or -EINVAL; wording->error is the caller's to
 * look at. */
typedef int encode_body(struct wording *wording, Saphan__V1__ServerFrame *frame);

encode_body encode_verdict;
encode_body encode_leg;
encode_body encode_status;
encode_body encode_rung;
encode_body encode_rule;
encode_body encode_why;
encode_body encode_cell;
encode_body encode_arm;
encode_body encode_machine;
encode_body encode_property;
encode_body encode_image;
