/* grants.h - what a descriptor from outside is. */
#pragma once

#include "warden.h"

/* The kernel's own name of FD (a directory or a regular file), which may be passed on to a leg or
 * to an unpacker: *RET_PATH is the caller's.  REASON_NONE, or why not. */
enum reason grant_look(int fd, char **ret_path);
