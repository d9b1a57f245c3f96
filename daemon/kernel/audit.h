/* audit.h - the kernel's audit system: its state, and the records that it multicasts.
 *
 * The kernel's include/uapi/linux/audit.h and kernel/audit.c; netlink(7).  0 (or a descriptor) or
 * -errno throughout: -EPROTONOSUPPORT is a kernel without it, -EPERM for the state one that asks
 * from a pid namespace of its own, or without CAP_AUDIT_CONTROL; for listening, without
 * CAP_AUDIT_READ.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Types of records, newer ones than the headers know too. */
#define AUDIT_RECORD_SYSCALL 1300
#define AUDIT_RECORD_CONFIG_CHANGE 1305
#define AUDIT_RECORD_END 1320
#define AUDIT_RECORD_LANDLOCK_ACCESS 1423
#define AUDIT_RECORD_LANDLOCK_DOMAIN 1424

#define AUDIT_RECORD_MAX 9216 /* the kernel's longest message is MAX_AUDIT_MESSAGE_LENGTH, 8970 */

struct audit_state {
    uint32_t enabled;       /* 0, 1, or 2: on, and locked until the machine restarts */
    uint32_t backlog_limit; /* records that may wait for kauditd before one is lost */
    uint32_t lost;          /* records that the kernel had no room for, since it started */
    uint32_t backlog;       /* records that wait for kauditd: no listener has heard them */
};

int audit_read(struct audit_state *ret);

/* Switches it on or off.  -EPERM: it is locked. */
int audit_enable(bool on);

int audit_set_backlog_limit(uint32_t records);

/* 1, 0, or -errno. */
int audit_enabled(void);

/* A descriptor on which all records come that it multicasts. */
int audit_listen(void);

/* Of them only TYPES (at most 8) reach FD from now on, whoever has it: what passes is locked. */
int audit_listen_only(int fd, const uint16_t *types, size_t n_types);

/* The next record, which must wait already: bytes of its payload, terminated.  -EAGAIN; -ENOBUFS:
 * some were lost before this; -EBADMSG: not of the kernel, or not of the form. */
ssize_t audit_receive(int fd, uint16_t *ret_type, char payload[AUDIT_RECORD_MAX]);

/* Waits for a Landlock denial that names inode INO.  0, -ETIME, -errno. */
int audit_hear_denial(int listener, ino_t ino, uint64_t wait_ms);
