/* devices.h - the leg's /dev: a tmpfs of its own with six nodes and a few links. */
#pragma once

#include <stdint.h>

/* Makes it, detached and read-only, for the leg whose ids begin at ID_BASE: what is in it belongs
 * to the leg's own root, so it needs no id map (a tmpfs takes one only since Linux 6.3).  mknod(2),
 * fsmount(2). */
int devices_make(uint32_t id_base, int *ret_mount);
