/* frame.h - how frames are cut out of the stream, both ways.
 *
 * A frame is a 4-byte little-endian length and that many bytes of one protobuf message
 * (ClientFrame or ServerFrame).  Descriptors come as SCM_RIGHTS beside the first byte of their
 * frame's length.  A length of 0 from saphand means "too busy, come again" and is followed by the
 * end of the connection.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FRAME_MAX (128U * 1024U) /* bytes of message in one frame */
#define FRAME_HEADER 4U
#define FRAME_DESCRIPTORS_MAX 60U /* descriptors beside one frame */
#define FRAME_PROTOCOL 1U

static inline void frame_put_length(uint8_t header[FRAME_HEADER], uint32_t length)
{
    for (unsigned int i = 0; i < FRAME_HEADER; i++)
        header[i] = (uint8_t)(length >> (8 * i));
}

static inline uint32_t frame_get_length(const uint8_t header[FRAME_HEADER])
{
    return (uint32_t)header[0] | (uint32_t)header[1] << 8 | (uint32_t)header[2] << 16 |
           (uint32_t)header[3] << 24;
}
