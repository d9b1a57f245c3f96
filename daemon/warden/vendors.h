/* vendors.h - the profiles that are known, read from *.vendor at start and on reload. */
#pragma once

#include "warden.h"

struct profile;

/* Reads all profiles of options.vendors; a directory that is not there, a file that is wrong: the
 * log says it, -errno. */
int vendors_read(const struct options *options, struct vendor_set **ret);

/* A set lives as long as one leg that holds it. */
struct vendor_set *vendors_hold(struct vendor_set *set);
void vendors_release(struct vendor_set *set); /* NULL is let through */

/* The name of number AT; NULL behind the last. */
const char *vendors_name(const struct vendor_set *set, size_t at);

/* All names, with spaces between them; to be freed.  NULL: there are none, or no memory. */
char *vendors_names(const struct vendor_set *set);

/* NULL when there is none of this name. */
const struct profile *vendors_find(const struct vendor_set *set, const char *name);
