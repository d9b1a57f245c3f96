/* why.h - which part of a leg's boundary decides for a path: pure, from what was recorded of it.
 *
 * By name: what the leg would reach by that name, if no link of the tree leads elsewhere.  The
 * boundary's part alone: where it allows, a file's own permissions still decide.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define WHY_AREAS_MAX 320

/* In the order in which one wins over another at the same path. */
enum why_kind {
    WHY_NONE = 0,             /* nothing of the boundary shows it */
    WHY_WAY,                  /* a directory that only leads to what is shown */
    WHY_HOST,                 /* the host view: read-only */
    WHY_SYSTEM,               /* the minimal view's system directories: read-only */
    WHY_OWN,                  /* the leg's own scratch: gone with it */
    WHY_DEVICES,              /* the leg's own /dev */
    WHY_PROC,                 /* the leg's own /proc */
    WHY_READ,                 /* a read grant */
    WHY_WRITE,                /* a write grant of any kind */
    WHY_PIN,                  /* in a write grant: stays writable, cannot be moved or removed */
    WHY_CARVE_OUT_IF_PRESENT, /* in a write grant: read-only if it was there at the start */
    WHY_CARVE_OUT,            /* in a write grant: read-only, and cannot come to exist */
    WHY_MASK,                 /* covered with nothing: a secret of the host */
    WHY_LINK,                 /* a link of the leg's root, as the host has it: never decides */
    WHY_KIND_COUNT
};

const char *why_slug(enum why_kind kind);    /* "carve-out" */
const char *why_meaning(enum why_kind kind); /* a sentence for people */

struct why_area {
    enum why_kind kind;
    const char *path;   /* absolute, normal */
    const char *target; /* of a link */
};

struct why_answer {
    enum why_kind kind;
    const char *area; /* the path of the area that decided; NULL: none */
    bool read, write, execute;
    bool depends; /* write: on what is there, as the meaning says */
};

/* One line of the record: "SLUG PATH", for a link "link:TARGET PATH".  LINE is changed, and holds
 * what *RET points to.  -EINVAL. */
int why_parse(char *line, struct why_area *ret);

/* PATH is absolute and normal. */
void why_decide(
    const struct why_area *areas, size_t n_areas, const char *path, struct why_answer *ret);
