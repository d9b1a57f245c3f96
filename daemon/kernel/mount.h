/* mount.h - the new mount API, by descriptor only: open_tree(2), move_mount(2), mount_setattr(2),
 * fsopen(2).  Nothing of our own ideas. 0 (or a descriptor) or -errno throughout. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A detached copy of the mount at DIRFD/PATH (PATH may be ""); FLAGS: AT_RECURSIVE,
 * AT_SYMLINK_NOFOLLOW.  -EINVAL: the mount is in another mount namespace. */
int mount_clone(int dirfd, const char *path, unsigned int flags);

/* Sets ATTR_SET (MOUNT_ATTR_RDONLY, NOSUID, NODEV, NOEXEC, IDMAP) on the mount MOUNT is the root
 * of. USER_NAMESPACE is the id map's, or -EBADF.  RECURSIVE: its submounts too. -EINVAL: the file
 * system cannot be id-mapped (mount_setattr(2)). */
int mount_set(int mount, uint64_t attr_set, int user_namespace, bool recursive);

/* Takes MOUNT_ATTR_RDONLY off the mount that FD is the root of, attached in our own namespace.
 * -EPERM: it is locked, mount_namespaces(7). */
int mount_make_writable(int fd);

/* Attaches the detached MOUNT at DIRFD/PATH; neither end follows a trailing symlink. */
int mount_attach(int mount, int dirfd, const char *path);

/* A detached new file system: OPTIONS is a NULL-terminated list of key, value, key, value; a NULL
 * value is a flag.  ATTRS as for fsmount(2). */
int mount_new(const char *type, const char *const *options, uint64_t attrs);

/* A detached overlayfs of the directories LAYERS, topmost first, with what is written going to
 * UPPER (WORK beside it, on the same mount).  Absolute paths in our own mount namespace.  What an
 * unpacked layer hides stands in user.overlay.*, for a user namespace may set no other (overlayfs,
 * "userxattr"). -EINVAL: a layer's file system, or this kernel, will not have it. */
int mount_overlay(const char *const *layers, size_t n_layers, const char *upper, const char *work,
    uint64_t attrs);
