/* wording.h - from seam values to the texts, bytes and lists of protobuf-c, in an arena. */
#pragma once

#include "arena.h"
#include "messages.h"
#include "saphan.pb-c.h"

struct wording {
    const struct seam_message *message;
    struct arena *arena;
    int error; /* the first failure is kept: callers need not check each value */
};

/* A `string` of the wire is UTF-8: what is not plain ASCII is written as \xNN.  "" when absent. */
char *wording_string(struct wording *wording, struct seam_text text);
/* `bytes` of the wire: as they are. */
ProtobufCBinaryData wording_bytes(struct wording *wording, struct seam_text text);
/* As many elements of LIST as fit into BUDGET bytes of a frame; *RET_CUT is set when some do not.
 */
ProtobufCBinaryData *wording_list(struct wording *wording, struct seam_list list, size_t budget,
    size_t *ret_count, protobuf_c_boolean *ret_cut);
/* COUNT zeroed elements; NULL with the error kept. */
void *wording_array(struct wording *wording, size_t count, size_t size);

/* Fills OUT from the table's line of REASON; its detail is empty. */
void wording_reason(uint32_t reason, Saphan__V1__Reason *out);
/* For a literal or a table's text, which protobuf-c wants as char * and never writes to. */
char *wording_constant(const char *text);
