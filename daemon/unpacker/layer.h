/* layer.h - a layer's tar, decompressed, hashed and written out, in one pass and flat memory. */
#pragma once

#include "manifest.h"
#include "tree.h"

/* Writes LAYER into TREE.  Both digests, of what is stored and of the tar itself, are held to what
 * was said of them. */
int layer_unpack(const struct layer_source *layer, struct tree *tree, struct trouble *trouble);
