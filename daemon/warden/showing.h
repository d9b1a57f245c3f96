/* showing.h - lists out of the ledger that are told piece by piece, as their asker takes them. */
#pragma once

#include "image_messages.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct front;
struct seam_message;

#define SHOWINGS_MAX 8 /* of one connection, at once */

/* One that is under way: where it goes on is a row, not an open query. */
struct showing {
    uint64_t request;
    bool images;                    /* else a leg's events and its verdict, or the legs */
    uint64_t leg;                   /* 0: the legs */
    uint32_t owner;                 /* of legs: whose; UINT32_MAX: everybody's */
    bool all;                       /* of legs: those that ended, too */
    int64_t after;                  /* the last row that was told */
    char image[IMAGE_NAME_MAX + 1]; /* of images: the last that was told */
};

struct showings {
    struct showing under_way[SHOWINGS_MAX]; /* the first is being told */
    size_t count;
};

/* Each consumes MESSAGE and ends, now or later, with SEAM_END or a refusal. */
void answer_legs(struct front *front, struct seam_message *message);
void answer_show(struct front *front, struct seam_message *message);

/* The images, as the answer to REQUEST.  FRONT may be gone after it. */
void showings_images(struct front *front, uint64_t request);

/* Nothing waits for FRONT any more: the next piece.  FRONT may be gone after it. */
void showings_go_on(struct front *front);
