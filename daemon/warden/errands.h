/* errands.h - a short run of opener or checker as the requester: one question, its answers, gone.
 *
 * An errand has a deadline: a file system that hangs costs its own leg a refusal or an
 * INDETERMINATE, and nobody else anything.
 */
#pragma once

#include "program.h"

struct errand;

/* Each answer (owned by the errand; take descriptors with steal_fd()).  Returns whether it is one
 * of the N_ANSWERS that were asked for, or something found on the way. */
typedef bool errand_answer(void *context, struct seam_message *answer);
/* The last one came (result 0), or: -ETIMEDOUT, -EPIPE (it died), -EBADMSG.  The errand is freed
 * after this call. */
typedef void errand_done(void *context, int result);

struct errand_question {
    enum program program;
    const struct peer *as;
    uint16_t type;
    const void *fixed;
    struct seam_writer *writer;
    const int *descriptors;
    size_t n_descriptors;
    uint16_t answer_type;
    uint32_t n_answers; /* how many end it; at least 1 */
    uint64_t timeout_ms;
    errand_answer *answer;
    errand_done *done;
    void *context;
};

/* -errno when it cannot be started; DONE is not called then. */
int errand_run(struct warden *warden, const struct errand_question *question, struct errand **ret);

/* Ends it without calling DONE. */
void errand_cancel(struct errand *errand);
