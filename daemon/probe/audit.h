/* audit.h - whether the kernel's audit system is on, and what it says.  It is only ever asked.
 *
 * The kernel's include/uapi/linux/audit.h; netlink(7).
 */
#pragma once

#include <sys/types.h>

/* 1, 0, or -errno: -EPROTONOSUPPORT is a kernel without it. */
int audit_enabled(void);

/* A descriptor on which the records come that it multicasts, or -errno. */
int audit_listen(void);

/* Waits for a Landlock denial that names inode INO.  0, -ETIME, -errno. */
int audit_hear_denial(int listener, ino_t ino);
