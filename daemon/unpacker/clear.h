/* clear.h - a directory of the store is emptied. */
#pragma once

/* Removes all that is in DIRECTORY.  0 or -errno; what can be removed is. */
int clear_directory(int directory);
