/* first_namespace.h - whether a process is in the namespaces that the kernel began with. */
#pragma once

/* *RET: the path in /proc of the one (user, then pid) that is another; NULL: both are the first.
 * -errno when /proc does not say. */
int first_namespace_left(const char **ret);
