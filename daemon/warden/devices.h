/* devices.h - the leg's /dev: a tmpfs of its own with six nodes and a few links, id-mapped. */
#pragma once

/* Makes it, detached, for the leg whose USER_NAMESPACE is given.  mknod(2), fsmount(2). */
int devices_make(int user_namespace, int *ret_mount);
