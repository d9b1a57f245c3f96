/* own.h - ownership by cleanup attribute.
 *
 * A local that owns something says so where it is declared, and gives it away only by a steal_*
 * call.  So every function has one error path: return.
 */
#pragma once

#include <stdlib.h>
#include <unistd.h>

/* auto_(leg_free) struct leg *leg = NULL;  -- calls leg_free(leg) at the end of the scope. */
#define auto_(func) __attribute__((cleanup(func##_auto), unused))

/* Makes FUNC usable in auto_(): FUNC takes a TYPE and is not called on NULL. */
#define DEFINE_AUTO(type, func)                                                                    \
    static inline void func##_auto(type *slot)                                                     \
    {                                                                                              \
        if (*slot)                                                                                 \
            func(*slot);                                                                           \
    }                                                                                              \
    _Static_assert(1, "")

static inline void own_free_auto(void *slot)
{
    free(*(void **)slot);
}

static inline void own_close_auto(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

#define auto_free __attribute__((cleanup(own_free_auto), unused))
#define auto_close __attribute__((cleanup(own_close_auto), unused))

/* Hands the pointer over and leaves NULL behind. */
#define steal_ptr(ptr)                                                                             \
    (__extension__({                                                                               \
        __typeof__(ptr) *slot_ = &(ptr);                                                           \
        __typeof__(ptr) out_ = *slot_;                                                             \
        *slot_ = NULL;                                                                             \
        out_;                                                                                      \
    }))

/* Hands the descriptor over and leaves -EBADF behind. */
static inline int steal_fd(int *fd)
{
    int out = *fd;

    *fd = -9; /* -EBADF, as everywhere for "no descriptor" */
    return out;
}

/* Closes *FD if it is one and leaves -EBADF; always returns -EBADF. */
static inline int close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -9;
    return -9;
}

#define array_size(a) (sizeof(a) / sizeof((a)[0]))
