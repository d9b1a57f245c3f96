/* fuzz_frame - the bytes of a client's frame into decode().
 *
 * The first byte is how many descriptors came beside it; the rest is the message.  What decodes
 * must be of the seam's form, so that nothing of a client's making can end the channel.
 */
#include "decode.h"
#include "frame.h"
#include "types.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The packet that seam_send() would make of it. */
static void check_packet(const struct ask *ask, size_t fixed_size, size_t n_descriptors)
{
    size_t size = sizeof(ask->writer.header) + fixed_size + ask->writer.header.strings_size;
    struct seam_header header = ask->writer.header;
    char *packet = malloc(size);

    if (!packet)
        abort();
    header.fixed_size = (uint32_t)fixed_size;
    header.n_descriptors = (uint16_t)n_descriptors;
    memcpy(packet, &header, sizeof(header));
    memcpy(packet + sizeof(header), &ask->fixed, fixed_size);
    if (header.strings_size > 0)
        memcpy(packet + sizeof(header) + fixed_size, ask->writer.strings, header.strings_size);
    if (seam_check(packet, size, n_descriptors) != 0)
        abort();
    free(packet);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct seam_type_form *form;
    struct refusal refusal = {0};
    struct ask ask;
    size_t n_descriptors;
    int r;

    if (size < 2 || size - 1 > FRAME_MAX)
        return 0;
    n_descriptors = bytes[0] % (FRAME_DESCRIPTORS_MAX + 1);
    r = decode(bytes + 1, size - 1, n_descriptors, &ask, &refusal);
    if (r == DECODE_E_REFUSED) {
        if (refusal.reason == REASON_NONE || refusal.detail[0] == '\0')
            abort();
    } else if (r == 0) {
        form = seam_type_form(ask.writer.header.type);
        if (!form)
            abort();
        check_packet(&ask, form->fixed_size, n_descriptors);
        ask_done(&ask);
    } else {
        abort();
    }
    return 0;
}
