/* client_arena.h - memory that goes all at once: what one event points to, what one request is made
 * of. */
#pragma once

#include "own.h"
#include <stddef.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks;
};

/* SIZE zeroed bytes, aligned for anything; NULL: no memory. */
void *arena_take(struct arena *arena, size_t size);

/* A copy of SIZE bytes with a NUL behind them; NULL: no memory. */
char *arena_copy(struct arena *arena, const void *bytes, size_t size);

char *arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Frees all that was taken; the arena is empty and usable again. */
void arena_reset(struct arena *arena);

#define auto_arena __attribute__((cleanup(arena_reset)))
