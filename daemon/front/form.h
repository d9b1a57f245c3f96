/* form.h - the form of a field: what must be so before a value may stand in a seam message.
 *
 * Every check says 0 or FORM_E_REFUSED, with the field named in the refusal.
 */
#pragma once

#include "admit.h"
#include "arena.h"

enum { FORM_E_REFUSED = 1 };

struct form {
    const struct arena *arena; /* where protobuf-c put the message */
    size_t n_descriptors;      /* that came beside the frame */
    uint64_t named;            /* bit i: descriptor i was named by a field */
    struct refusal *refusal;   /* filled by the first check that fails */
};

/* Always FORM_E_REFUSED.  FORMAT is "field: what is wrong with it". */
int form_refuse(struct form *form, enum reason reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define form_malformed(form, ...) form_refuse(form, REASON_REQUEST_MALFORMED, __VA_ARGS__)

/* No unknown field and no NUL inside a `string`, in MESSAGE and in all that it holds.  An unknown
 * field is a wish we would not fulfil: it is refused, never passed over. */
int form_message(struct form *form, const ProtobufCMessage *message);

/* VALUE is one of FIRST..LAST. */
int form_number(
    struct form *form, const char *field, uint64_t value, uint64_t first, uint64_t last);

/* BYTES as text: without NUL, at most MAX bytes.  *RET lies in the arena; "" when empty. */
int form_text(struct form *form, const char *field, const ProtobufCBinaryData *bytes, size_t max,
    const char **ret);

enum path_form {
    PATH_ANY,      /* for messages only; may be empty */
    PATH_ABSOLUTE, /* normal, from the root; not empty */
    PATH_NORMAL,   /* normal, absolute or relative; not empty */
};

int form_path(struct form *form, const char *field, const ProtobufCBinaryData *bytes,
    enum path_form which, const char **ret);

/* DESCRIPTOR is 1 + an index, or 0; *RET is the index, or -1. */
int form_descriptor(struct form *form, const char *field, uint32_t descriptor, int32_t *ret);

/* Each descriptor that came was named by some field. */
int form_all_named(struct form *form);
