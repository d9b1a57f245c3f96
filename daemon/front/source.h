/* source.h - where the bytes of Output frames come from: a leg's pipe, or what was kept of it. */
#pragma once

#include "kept.h"
#include "outbox.h"

enum source_kind {
    SOURCE_NONE = 0,
    SOURCE_PIPE, /* the read end of a STREAM_EVENTS pipe: what is not read blocks its leg alone */
    SOURCE_KEPT, /* a file of kept.h, which may still grow */
};

struct source {
    enum source_kind kind;
    uint32_t stream; /* 1 or 2 */
    int fd;          /* owned */
    struct kept_reader kept;
};

/* Besides 0 (one frame was appended) and -errno. */
enum {
    SOURCE_E_NOTHING = 1, /* SOURCE_KEPT: nothing new now */
    SOURCE_E_END,         /* SOURCE_PIPE: every writer is gone, all was read */
    SOURCE_E_BROKEN,      /* SOURCE_KEPT: not a file that a stub of ours writes */
};

/* Take FD.  source_open_kept() may say SOURCE_E_BROKEN: then there is nothing to close. */
void source_open_pipe_take(struct source *source, uint32_t stream, int fd);
int source_open_kept_take(struct source *source, uint32_t stream, int fd);
void source_close(struct source *source);

/* Appends at most one Output frame.  The caller saw that OUTBOX has room, and, for a pipe, by
 * poll(2) that read(2) will not block. */
int source_pump(struct source *source, uint64_t request, struct outbox *outbox);
