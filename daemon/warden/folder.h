/* folder.h - the files of a configuration folder, by their ending. */
#pragma once

#include <glob.h>

/* Finds what ends with ENDING in DIRECTORY, sorted.  None there, or a folder that cannot be read,
 * is logged as WHAT with REMEDY: -ENOENT, -EIO.  *RET_FOUND is the caller's to globfree(3). */
int folder_files(const char *directory, const char *ending, const char *what, const char *remedy,
    glob_t *ret_found);
