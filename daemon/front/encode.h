/* encode.h - from seam messages to ServerFrames.
 *
 * What comes here is the warden's, of a form that seam_receive() has checked.  Counts are checked
 * once more before they index anything: -EINVAL, and the session ends.
 */
#pragma once

#include "messages.h"
#include "outbox.h"

/* Appends the frame for MESSAGE, any type of the range warden -> front that has one.
 * -EINVAL: a value that cannot be; -EMSGSIZE, -ENOBUFS: see outbox_put(); -ENOMEM. */
int encode_answer(const struct seam_message *message, uint64_t request, struct outbox *outbox);

/* Appends the front's own refusal; nothing was asked of the warden, or nothing more will be. */
int encode_refusal(const struct refusal *refusal, uint64_t request, struct outbox *outbox);

/* Appends bytes of STREAM (1 or 2), before which LOST bytes are missing. */
int encode_output(uint32_t stream, const void *bytes, size_t size, uint64_t lost, uint64_t request,
    struct outbox *outbox);
