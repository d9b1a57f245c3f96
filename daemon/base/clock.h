/* clock.h - two clocks: one for spans, one for people. */
#pragma once

#include <stdint.h>

uint64_t clock_monotonic_us(void); /* CLOCK_MONOTONIC, microseconds: for spans and deadlines */
int64_t clock_wall_ms(void); /* CLOCK_REALTIME, milliseconds since 1970: for rows and people */
