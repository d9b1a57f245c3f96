/* settings_file.h - a settings file as it is: its text, its hash. */
#pragma once

#include "nesting.h"
#include <stddef.h>

/* Reads PATH beneath DIRECTORY, or an absolute PATH where DIRECTORY is AT_FDCWD.  *RET_TEXT (to be
 * freed) and *RET_LENGTH.  -ENOENT when there is no such file (or a component of PATH is none),
 * else -errno: -EXDEV for a link that leads out, -EINVAL for what is no regular file, -EFBIG. */
int settings_file_read(int directory, const char *path, char **ret_text, size_t *ret_length);

void settings_file_hash(const char *text, size_t length, uint8_t ret_sha256[32]);
