#include "client_arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ARENA_CHUNK 4096U

struct arena_chunk {
    struct arena_chunk *next;
    size_t size, used;
    _Alignas(max_align_t) unsigned char bytes[];
};

static struct arena_chunk *arena_grow(struct arena *arena, size_t size)
{
    size_t wanted = size > ARENA_CHUNK ? size : ARENA_CHUNK;
    struct arena_chunk *chunk;

    if (wanted > SIZE_MAX - sizeof(*chunk))
        return NULL;
    chunk = calloc(1, sizeof(*chunk) + wanted);
    if (!chunk)
        return NULL;
    chunk->size = wanted;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

void *arena_take(struct arena *arena, size_t size)
{
    struct arena_chunk *chunk = arena->chunks;
    void *out;

    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t);
    if (!chunk || chunk->size - chunk->used < size)
        chunk = arena_grow(arena, size);
    if (!chunk)
        return NULL;
    out = chunk->bytes + chunk->used;
    chunk->used += size;
    return out;
}

char *arena_copy(struct arena *arena, const void *bytes, size_t size)
{
    char *out = arena_take(arena, size + 1);

    if (out && size > 0)
        memcpy(out, bytes, size);
    return out;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list args;
    char *out;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        return NULL;
    out = arena_take(arena, (size_t)length + 1);
    if (!out)
        return NULL;
    va_start(args, format);
    (void)vsnprintf(out, (size_t)length + 1, format, args);
    va_end(args);
    return out;
}

void arena_reset(struct arena *arena)
{
    while (arena->chunks) {
        struct arena_chunk *next = arena->chunks->next;

        free(arena->chunks);
        arena->chunks = next;
    }
}
