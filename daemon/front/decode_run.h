/* decode_run.h - the one request with many fields. */
#pragma once

#include "decode.h"
#include "form.h"
#include "saphan.pb-c.h"

/* 0 and ASK filled; FORM_E_REFUSED; -ENOMEM.  ask_done() is due in any case. */
int decode_run(struct form *form, const Saphan__V1__Run *run, struct ask *ask);
