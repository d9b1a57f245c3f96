/* made_path.h - a directory beneath another, made where it is not there. */
#pragma once

/* PATH is relative and normal.  An O_PATH descriptor of a directory; -ENOTDIR, -EXDEV (a link leads
 * out of DIRECTORY), -errno. */
int made_path(int directory, const char *path);
