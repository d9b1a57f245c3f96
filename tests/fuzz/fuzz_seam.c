/* fuzz_seam - a packet's bytes into seam_check(), and what passes it into the front's encoder.
 *
 * The first byte is how many descriptors came with the packet.  Every type that the front writes
 * out is read to its last text: what seam_check() lets through must be safe to read.
 */
#include "encode.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void read_all(char *packet)
{
    struct seam_message message = {0};
    struct outbox outbox;

    memcpy(&message.header, packet, sizeof(message.header));
    message.fixed = packet + sizeof(message.header);
    message.strings = packet + sizeof(message.header) + message.header.fixed_size;
    if (outbox_init(&outbox) < 0)
        abort();
    (void)encode_answer(&message, 1, &outbox);
    outbox_done(&outbox);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char
        *packet; /* of its own, so that a sanitizer sees its ends; aligned, as seam_check() wants */

    if (size < 2 || size - 1 > SEAM_MESSAGE_MAX)
        return 0;
    packet = malloc(size - 1);
    if (!packet)
        abort();
    memcpy(packet, bytes + 1, size - 1);
    if (seam_check(packet, size - 1, bytes[0] % (SEAM_DESCRIPTORS_MAX + 1)) == 0)
        read_all(packet);
    free(packet);
    return 0;
}
