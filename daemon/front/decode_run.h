/* decode_run.h - the one request with many fields. */
#pragma once

#include "decode.h"
#include "form.h"
#include "saphan.pb-c.h"

/* decode_door.c: the hosts and forwards of a run; and one host as it stands in a text. */
int decode_outlets(struct form *form, const Saphan__V1__Run *run, struct ask *ask);
int decode_host(struct form *form, const char *field, const ProtobufCBinaryData *bytes,
    struct host_pattern *ret);

/* 0 and ASK filled; FORM_E_REFUSED; -ENOMEM.  ask_done() is due in any case. */
int decode_run(struct form *form, const Saphan__V1__Run *run, struct ask *ask);
