/* request.h - a struct saphan_run made into a frame and its descriptors. */
#pragma once

#include "client_arena.h"
#include "frame.h"
#include "pump.h"
#include "saphan.h"
#include "saphan.pb-c.h"
#include "worktree.h"

struct request {
    struct arena arena; /* holds all that RUN points to */
    Saphan__V1__Run run;
    int fds[FRAME_DESCRIPTORS_MAX]; /* in the order of the frame */
    size_t n_fds;
    int owned[FRAME_DESCRIPTORS_MAX]; /* those we opened, to be closed after the send */
    size_t n_owned;
    struct worktree worktree;
    struct pump *pumps[PUMPS_MAX]; /* started for streams that cannot be passed; owned */
    size_t n_pumps;
};

void request_done(struct request *request);

#define auto_request __attribute__((cleanup(request_done)))

/* Opens what ASKED names and fills RET, which must be zeroed; request_done() it in any case. */
int request_make(struct request *ret, const struct saphan_run *asked, struct saphan_error *error);
