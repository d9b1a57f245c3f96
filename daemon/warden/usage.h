/* usage.h - how much a user asks for: legs at once and in the last minute. */
#pragma once

#include "admit.h"
#include "warden.h"

void usage_of(const struct warden *warden, uint32_t uid, struct usage *ret);
void usage_count(struct warden *warden, uint32_t uid); /* one more leg was admitted */
