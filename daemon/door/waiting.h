/* waiting.h - how the door waits for what comes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct door;

struct waiting {
    uint64_t arrivals; /* connections and bytes that came, whatever they were */
    bool bulk;         /* much at once, since the last look */
    unsigned pause;    /* waits asleep after a wait awake that was in vain */
    unsigned left;     /* of them */
};

/* SIZE bytes came, or 0 for a connection. */
void waiting_arrived(struct door *door, size_t size);

/* Serves until the loop is broken. */
void waiting_serve(struct door *door);
