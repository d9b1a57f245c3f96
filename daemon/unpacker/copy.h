/* copy.h - a plain root directory becomes one layer. */
#pragma once

#include "tree.h"

/* Copies what is beneath FROM into TREE, and digests names, owners, modes, times, links and content
 * in an order of its own, so that the same tree is the same layer.  Sockets, and devices beneath
 * /dev, are left out; other devices are refused. */
int copy_tree(int from, struct tree *tree, uint8_t ret_digest[32], struct trouble *trouble);
