/* stamp.h - the state of one artefact: there or not, of what kind, how old, and its hash. */
#pragma once

#include "messages.h"
#include <stdbool.h>

/* Looks at PATH beneath the granted descriptor GRANT; "" is the grant itself.  Always fills *RET:
 *
 * - error 0, regular 1: a regular file; dev, ino, size and times are filled, and with HASH sha256.
 * - error 0, regular 0: something else is there (a FIFO, device, directory, symlink): not opened.
 * - error ELOOP: a directory on the way is a symlink; EXDEV: the way leads out of the grant.
 * - error EBUSY, regular 1: it changed while it was hashed, so no hash is told.
 * - any other error: what openat2(2), open(2) or read(2) said.  regular tells whether it was one.
 *
 * Nothing but a regular file is ever opened for reading, so nothing here can wait for a writer.
 */
void stamp_take(int grant, const char *path, bool hash, struct artefact_stamp *ret);
