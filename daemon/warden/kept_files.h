/* kept_files.h - the files of kept output, two a leg, in the state directory. */
#pragma once

#include "warden.h"

/* Makes STATE/output/LEG.STREAM, 0600, for reading and writing. STREAM is 1 or 2. */
int kept_file_make(struct warden *warden, uint64_t leg, size_t stream, int *ret_fd);
/* Opens it for reading. -ENOENT: that leg kept none. */
int kept_file_open(struct warden *warden, uint64_t leg, size_t stream, int *ret_fd);
/* How many bytes its files say they keep of stdout and stderr: for a leg whose stub said nothing.
 */
void kept_files_count(struct warden *warden, uint64_t leg, uint64_t ret[2]);
void kept_files_remove(struct warden *warden, uint64_t leg);
