/* enclosed.h - what this process itself is in: somebody else's domain, container or filter. */
#pragma once

#include <stddef.h>

/* "a Landlock domain (1 layer), no_new_privs"; "": nothing was seen around it. */
void enclosed_describe(char *out, size_t size);
