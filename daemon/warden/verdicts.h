/* verdicts.h - a verdict as the seam carries it. */
#pragma once

#include "leg.h"

/* Fills OUT for a leg that has just ended; texts go into WRITER. */
void verdict_fill(const struct leg *leg, const struct verdict *verdict, struct seam_writer *writer,
    struct seam_verdict *out);

/* The detail that belongs to reason number INDEX of VERDICT: a path for an artefact, a status for
 * an exit.  "" for none; in BUFFER. */
const char *verdict_detail(const struct leg *leg, const struct verdict *verdict, uint32_t index,
    char *buffer, size_t size);

/* What was kept of the leg's output, for people; NULL when nothing was.  In BUFFER. */
#define VERDICT_KEPT_MAX 160
const char *verdict_kept(const struct leg *leg, char *buffer, size_t size);
