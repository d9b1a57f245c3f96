/* landlock.h - Landlock by raw system calls and our own constants: the headers of a distribution
 * are often older than the kernel it runs on.
 *
 * landlock(7), the kernel's Documentation/userspace-api/landlock.rst.  0 (or a descriptor) or
 * -errno throughout.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The newest ABI whose rights are listed here.  A newer kernel still has all of these. */
#define LANDLOCK_ABI_KNOWN 9

#define LANDLOCK_FS_EXECUTE (UINT64_C(1) << 0)
#define LANDLOCK_FS_WRITE_FILE (UINT64_C(1) << 1)
#define LANDLOCK_FS_READ_FILE (UINT64_C(1) << 2)
#define LANDLOCK_FS_READ_DIR (UINT64_C(1) << 3)
#define LANDLOCK_FS_REMOVE_DIR (UINT64_C(1) << 4)
#define LANDLOCK_FS_REMOVE_FILE (UINT64_C(1) << 5)
#define LANDLOCK_FS_MAKE_CHAR (UINT64_C(1) << 6)
#define LANDLOCK_FS_MAKE_DIR (UINT64_C(1) << 7)
#define LANDLOCK_FS_MAKE_REG (UINT64_C(1) << 8)
#define LANDLOCK_FS_MAKE_SOCK (UINT64_C(1) << 9)
#define LANDLOCK_FS_MAKE_FIFO (UINT64_C(1) << 10)
#define LANDLOCK_FS_MAKE_BLOCK (UINT64_C(1) << 11)
#define LANDLOCK_FS_MAKE_SYM (UINT64_C(1) << 12)
#define LANDLOCK_FS_REFER (UINT64_C(1) << 13)        /* ABI 2 */
#define LANDLOCK_FS_TRUNCATE (UINT64_C(1) << 14)     /* ABI 3 */
#define LANDLOCK_FS_IOCTL_DEV (UINT64_C(1) << 15)    /* ABI 5 */
#define LANDLOCK_FS_RESOLVE_UNIX (UINT64_C(1) << 16) /* ABI 9 */

#define LANDLOCK_NET_BIND_TCP (UINT64_C(1) << 0)    /* ABI 4 */
#define LANDLOCK_NET_CONNECT_TCP (UINT64_C(1) << 1) /* ABI 4 */

#define LANDLOCK_SCOPED_ABSTRACT_UNIX (UINT64_C(1) << 0) /* ABI 6 */
#define LANDLOCK_SCOPED_SIGNAL (UINT64_C(1) << 1)        /* ABI 6 */

/* Flags of landlock_restrict(). */
#define LANDLOCK_LOG_SAME_EXEC_OFF (UINT32_C(1) << 0)  /* ABI 7 */
#define LANDLOCK_LOG_NEW_EXEC_ON (UINT32_C(1) << 1)    /* ABI 7 */
#define LANDLOCK_LOG_SUBDOMAINS_OFF (UINT32_C(1) << 2) /* ABI 7 */
#define LANDLOCK_TSYNC (UINT32_C(1) << 3)              /* ABI 8 */

/* The rights that a rule on something that is not a directory may carry. */
#define LANDLOCK_FS_FILE                                                                           \
    (LANDLOCK_FS_EXECUTE | LANDLOCK_FS_WRITE_FILE | LANDLOCK_FS_READ_FILE | LANDLOCK_FS_TRUNCATE | \
        LANDLOCK_FS_IOCTL_DEV | LANDLOCK_FS_RESOLVE_UNIX)

/* The kernel's ABI, 1 or more.  -ENOSYS: not built in; -EOPNOTSUPP: not enabled at boot. */
int landlock_abi(void);

/* The bits of errata that this kernel has mended; 0 on kernels that cannot tell (before 6.15). */
uint32_t landlock_errata(void);

/* All that a kernel of this ABI knows. */
uint64_t landlock_fs_rights(int abi);
uint64_t landlock_net_rights(int abi);
uint64_t landlock_scopes(int abi);
uint32_t landlock_flags(int abi);

/* A ruleset that handles these rights: what is handled and allowed by no rule is refused.  -EINVAL
 * or -E2BIG: this kernel does not know one of them. */
int landlock_ruleset(uint64_t fs, uint64_t net, uint64_t scoped);

/* Allows RIGHTS on PATH (O_PATH will do) and all beneath it.  They must be handled, and be among
 * LANDLOCK_FS_FILE if PATH is no directory: else -EINVAL. */
int landlock_allow_path(int ruleset, int path, uint64_t rights);
int landlock_allow_port(int ruleset, uint16_t port, uint64_t rights);

/* Puts the calling thread, and all that it starts, under the ruleset for good.  no_new_privs must
 * be set (or CAP_SYS_ADMIN held): -EPERM.  -E2BIG: 16 layers are stacked already. */
int landlock_restrict(int ruleset, uint32_t flags);

/* How many domains the caller is in, one within the other: nobody tells a process, but the kernel
 * stacks 16 and no more, so what is still to be had says what was there.  Uses them up: for a
 * process that ends soon.  As landlock_abi(), and -ERANGE: this kernel stacks another number. */
int landlock_layers(void);
