/* passwd.h - the accounts an image knows: its /etc/passwd and /etc/group, as a leg would see them.
 */
#pragma once

#include "messages.h"

struct passwd_entry {
    bool group;
    uint32_t id, gid;
    char name[36];
};

/* Reads FILE ("passwd" or "group") of /etc in LAYERS, the lowest first.  Only what is exactly of
 * its form is taken, and nothing where the file, or /etc, is a link: then users are numbers alone.
 * EACH says 0 to go on. */
int passwd_read(const int *layers, uint32_t n_layers, const char *file,
    int (*each)(void *context, const struct passwd_entry *entry), void *context);
