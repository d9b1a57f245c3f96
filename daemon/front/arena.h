/* arena.h - all memory of one message, in one piece: bounded when it is made, freed as a whole.
 *
 * protobuf-c allocates as the bytes of a stranger tell it to.  Here it gets an amount that was
 * fixed from the frame's size, and no more: a frame that needs more is malformed.
 */
#pragma once

#include "own.h"
#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

struct arena {
    uint8_t *bytes;
    size_t size, used;
    ProtobufCAllocator allocator; /* hands out of this arena; its free does nothing */
};

/* -ENOMEM. */
int arena_init(struct arena *arena, size_t size);
void arena_done(struct arena *arena);

static inline void arena_done_auto(struct arena *arena)
{
    arena_done(arena);
}

/* Zeroed memory, aligned for any type, with at least one zero byte behind it; NULL when the arena
 * is used up. */
void *arena_alloc(struct arena *arena, size_t size);

/* The size that was asked for when AT was handed out; 0 when AT is not of this arena.  A `string`
 * of protobuf-c was allocated as its length on the wire and one: a NUL inside it shows here. */
size_t arena_size_of(const struct arena *arena, const void *at);
