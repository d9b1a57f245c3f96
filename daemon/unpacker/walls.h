/* walls.h - the walls around the unpacker. */
#pragma once

#include "fault.h"

/* Root of a user namespace of its own that owns the store's ids: from here on it can give files
 * beneath STAGING to those ids, and read and write nothing else but by descriptors it is handed,
 * each of which is a detached mount that leads nowhere.  -errno with the fault filled. */
int walls_raise(int empty_root, int staging, struct fault *ret_fault);
