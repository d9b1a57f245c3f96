/* caller.h - who made a call, as /proc of the leg shows it while the caller stands still. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define CALLER_CHAIN_MAX 320

/* Escaped; "?" where it cannot be read. */
void caller_comm(pid_t pid, char *out, size_t size);
void caller_exe(pid_t pid, char *out, size_t size);

/* "unshare(9) sh(7) agent(2)": PID, its parent, and so on up to the leg's first program, or to pid
 * 1 for one whose parent is gone.  "..." stands for what has no room. */
void caller_chain(pid_t pid, char out[CALLER_CHAIN_MAX]);
