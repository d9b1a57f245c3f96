/* path.h - openat2(2), and what a descriptor is the name of. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Ways to resolve (RESOLVE_* of openat2(2)), by what they are for. */
#define PATH_BENEATH 0x1U     /* never out of DIRFD: no "..", no absolute link out of it */
#define PATH_IN_ROOT 0x2U     /* DIRFD is "/" for the whole resolution */
#define PATH_NO_SYMLINKS 0x4U /* no link at all, not even as the last component */

/* Opens DIRFD/PATH with FLAGS of open(2), close-on-exec; magic links (/proc/PID/fd/N) are never
 * followed.  A descriptor or -errno: -ELOOP a link where none may be, -EXDEV it leads out. */
int path_open(int dirfd, const char *path, int flags, unsigned int resolve);

/* Opens what FOUND (O_PATH) refers to once more, with FLAGS of open(2), close-on-exec: the very
 * same inode, whatever its name leads to by now.  The caller has looked what it is. */
int path_reopen(int found, int flags);

/* Which mount FD is in (statx(2), STATX_MNT_ID): its number while it stands.  0 or -errno. */
int path_mount(int fd, uint64_t *ret);

/* fstat(2) by statx(2), and whether FD is the root of a mount.  0 or -errno. */
int path_stat(int fd, struct stat *ret, bool *ret_mount_root);
