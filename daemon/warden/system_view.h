/* system_view.h - what of the host a leg sees without any grant. */
#pragma once

#include "warden.h"

/* Opens the system directories once and finds the secrets to mask. */
int system_view_open(struct warden *warden);
void system_view_close(struct warden *warden);

/* What lies in a home and is a secret of its owner's; NULL-terminated. */
extern const char *const home_secrets[];

/* One mount of the host view. */
struct host_mount {
    char *path;
    int fd; /* O_PATH */
};

/* Every mount and top directory of the host that `--view host` shows, parents before children: not
 * the kernel's own file systems, not /dev, /proc, /sys, /run, /tmp, which the leg has of its own.
 * *RET is an array of *RET_COUNT, freed by host_mounts_free(). */
int host_mounts_read(struct host_mount **ret, uint32_t *ret_count);
void host_mounts_free(struct host_mount *mounts, uint32_t count);
