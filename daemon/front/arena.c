#include "arena.h"

#include <errno.h>
#include <string.h>

/* Before each piece stands its size. */
#define PREFIX 16U
#define ALIGNMENT 16U

_Static_assert(PREFIX >= sizeof(size_t) && PREFIX % ALIGNMENT == 0, "the prefix keeps alignment");

static void *allocator_alloc(void *arena, size_t size)
{
    return arena_alloc(arena, size);
}

static void allocator_free(void *arena, void *at)
{
    (void)arena; /* freed as a whole */
    (void)at;
}

int arena_init(struct arena *arena, size_t size)
{
    uint8_t *bytes = malloc(size); /* zeroed piece by piece: most of it is never touched */

    if (!bytes)
        return -ENOMEM;
    *arena = (struct arena){
        .bytes = bytes, .size = size, .allocator = {allocator_alloc, allocator_free, arena}};
    return 0;
}

void arena_done(struct arena *arena)
{
    free(arena->bytes);
    arena->bytes = NULL;
    arena->size = arena->used = 0;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t left = arena->size - arena->used, whole;
    uint8_t *at;

    if (size >= left) /* so that the sum below cannot wrap */
        return NULL;
    whole = PREFIX + (size + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (whole > left)
        return NULL;
    at = arena->bytes + arena->used;
    memset(at, 0, whole);
    memcpy(at, &size, sizeof(size));
    arena->used += whole;
    return at + PREFIX;
}

size_t arena_size_of(const struct arena *arena, const void *at)
{
    uintptr_t start = (uintptr_t)arena->bytes, here = (uintptr_t)at;
    size_t size;

    if (here < start + PREFIX || here >= start + arena->used)
        return 0;
    memcpy(&size, (const uint8_t *)at - PREFIX, sizeof(size));
    return size;
}
