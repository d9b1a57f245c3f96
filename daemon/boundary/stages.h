/* stages.h - the steps of build.c, one file each; all 0 or -errno with the fault filled. */
#pragma once

#include "boundary.h"
#include "way.h"

/* -- for a slot, before there is a plan -- */

/* loopback.c: brings it up; nothing to do where it is up. */
int stage_loopback(struct site *site, struct fault *ret_fault);

/* root.c: a tmpfs for the root. */
int stage_root(struct site *site, struct fault *ret_fault);

/* proc.c: a fresh /proc and its masks. */
int stage_proc(struct site *site, struct fault *ret_fault);
/* proc.c: takes them off again. */
int proc_unmask(struct site *site);

/* pivot.c: the host's tree goes. */
int stage_pivot(struct site *site, struct fault *ret_fault);

/* -- for a leg, as the plan says -- */

/* root.c: one bounded tmpfs for all that a leg may scribble on; the root read-only. */
int stage_scratch(struct site *site, struct fault *ret_fault);
int stage_seal_root(struct site *site, struct fault *ret_fault);

/* mounts.c: the system's directories, the grants, the root's own links. */
int stage_mounts(struct site *site, struct fault *ret_fault);

/* carve_outs.c: what stays read-only, or in its place, inside a write grant. */
int stage_carve_outs(struct site *site, struct fault *ret_fault);

/* dev.c, masks.c */
int stage_devices(struct site *site, struct fault *ret_fault);
int stage_masks(struct site *site, struct fault *ret_fault);

/* streams.c: what will be descriptors 0, 1 and 2 is opened and checked. */
int stage_streams(struct site *site, struct fault *ret_fault);

/* domain.c: Landlock's ruleset, from the mounts. */
int stage_domain(struct site *site, struct fault *ret_fault);

/* -- for a leg in a container, as the plan says -- */

/* container.c: its layers stacked, and with the scratch that stage_scratch() makes, /proc, /sys and
 * the grants the new root; then the slot's own root goes too. */
int stage_host_name(struct site *site, struct fault *ret_fault);
int stage_image(struct site *site, struct fault *ret_fault);
int stage_image_places(struct site *site, struct fault *ret_fault);
int stage_image_directory(struct site *site, struct fault *ret_fault);
int stage_seal_image(struct site *site, struct fault *ret_fault);

/* -- for several stages -- */

/* sys.c: makes in the directory SCRATCH what becomes a container's /sys. */
int sys_make(int scratch, struct fault *ret_fault);

/* root.c: makes the scratch file system, *RET_WHOLE (may be NULL) is all of it; attaches its parts.
 */
int scratch_make(struct site *site, int *ret_whole, struct fault *ret_fault);
int scratch_attach(struct site *site, struct fault *ret_fault);

/* target.c: opens PATH (absolute) in the new root, O_PATH; what is missing is made, but only on the
 * leg's own file systems: never in a grant.  A link of an image is followed as it would be inside,
 * so never out of the root; any other is -ELOOP.  *RET_WAY (may be NULL): where that is, in `done`.
 */
int target_open(const struct site *site, const char *path, bool directory, int *ret_fd);
int target_find(
    const struct site *site, const char *path, bool directory, struct way *ret_way, int *ret_fd);

/* mounts.c: where mount I of the plan stands, once stage_mounts() has been: at its target, or where
 * the image's links lead from there. */
const char *mount_place(const struct site *site, uint32_t i);

/* Whether FD lies on a file system that was made here: the root, or the scratch. */
bool target_is_own(const struct site *site, int fd);

/* masks.c: covers what FD is with nothing, read-only. */
int mask_cover(const struct site *site, int fd);

/* masks.c: makes, and in the end removes, what masks cover with. */
int mask_prepare(const struct site *site);
int mask_finish(const struct site *site);
