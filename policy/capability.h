/* capability.h - which capabilities a leg in a container can be given: those over files and ports.
 *
 * They are the leg's in its own user namespace, over what that namespace owns: the image's files,
 * its scratch, its network namespace.  No other can be had, by no policy: with CAP_SETUID or
 * CAP_KILL a program could act on pid 1 of its leg, which is a user of its own for that reason;
 * CAP_SYS_ADMIN and the like open a part of the kernel that no list of calls makes small.
 */
#pragma once

#include <stdint.h>

#define CAPABILITY_NAMES "CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER CAP_FSETID CAP_NET_BIND_SERVICE"
#define CAPABILITIES_TEXT_MAX 96

/* The kernel's bit (1 << CAP_*) of NAME, exactly one of CAPABILITY_NAMES.  -EINVAL: another. */
int capability_parse(const char *name, uint64_t *ret_bit);

/* The bits of all that there are. */
uint64_t capabilities_known(void);

/* "CAP_CHOWN CAP_FOWNER"; "none" where no bit is set. */
void capabilities_format(uint64_t bits, char out[CAPABILITIES_TEXT_MAX]);
