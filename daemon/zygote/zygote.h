/* zygote.h - a program that is executed once and then bears copies of itself.
 *
 * To execute a program is most of what a front or a stub costs: a new address space, relocations,
 * the C library's start.  A zygote has done all that, and has given up what its children do not
 * need, before the first of them is asked for; a child is a copy of it, made in the namespaces and
 * the cgroup that the warden names, and the warden's own child (CLONE_PARENT), not the zygote's.
 *
 * What it should do: read SEAM_BEAR from the warden, clone, answer SEAM_BORN.  What it must not:
 * read anything else, from anybody, or keep a descriptor of a child.  What an attacker who owns it
 * gains is said by the program that runs it; but nobody's bytes reach it.  The price: children of
 * one zygote share their address layout and stack canary, so what one gives away of these holds for
 * the others.
 */
#pragma once

#include <stdint.h>

/* Serves CHANNEL.  Returns only in a child: 0, CHANNEL being its own channel then, with the value
 * that the warden gave it; nothing of the zygote's is left open.  When the warden is gone, or says
 * what is no order, the process ends. */
int zygote_run(int channel, uint64_t *ret_value);
