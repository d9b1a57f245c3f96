/* placeholder.h - what is put where a carve-out is absent, so that nothing else can come to be
 * there: marked, and removed by the warden when the last leg that needs it has ended.
 */
#pragma once

#include "boundary.h"

/* Makes NAME in the directory PARENT (O_PATH will do), as KIND says (enum carve_out_kind): a
 * directory or a file, owned by the directory's owner, marked; the directory's mtime is put back.
 * -EEXIST when something is there already; on any failure nothing is left. */
int placeholder_make(const struct site *site, int parent, const char *name, uint32_t kind);

/* Whether the directory FD (O_PATH will do) bears the mark. 0, 1 or -errno. */
int placeholder_is(int fd);

/* Whether the leg's identity could make a name in the directory PARENT, or give itself the right
 * to. 0, 1 or -errno. */
int placeholder_is_needed(const struct site *site, int parent);
