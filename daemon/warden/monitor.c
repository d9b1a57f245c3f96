#include "monitor.h"

#include "answers.h"
#include "cells.h"
#include "images.h"
#include "legs.h"
#include "log.h"
#include "measuring.h"

#define OPEN_PER_FRONT 16 /* requests under way of one connection */

static void client_gone(struct front *front, struct seam_message *message)
{
    seam_message_done(message);
    front_drop(front);
}

/* Who asks is FRONT: it was decided when the connection was accepted, and nothing in a message can
 * change it. */
static const struct entry {
    uint16_t type;
    bool needs_rule; /* the asker must be named by some rule of the policy */
    void (*take)(struct front *front, struct seam_message *message);
} table[] = {
    {SEAM_ASK_RUN, true, legs_ask},
    {SEAM_ASK_LEGS, true, answer_legs},
    {SEAM_ASK_SHOW, true, answer_show},
    {SEAM_ASK_LOGS, true, answer_logs},
    {SEAM_ASK_KILL, true, answer_kill},
    {SEAM_ASK_STATUS, false, answer_status},
    {SEAM_ASK_WHY, true, answer_why},
    {SEAM_ASK_DOOR, true, answer_door},
    {SEAM_ASK_CELL, true, answer_cell},
    {SEAM_ASK_ARM, true, answer_arm},
    {SEAM_ASK_MATRIX, true, answer_matrix},
    {SEAM_ASK_MACHINE, true, answer_machine},
    {SEAM_ASK_IMAGE_ADD, true, images_ask_add},
    {SEAM_ASK_IMAGES, true, images_ask_list},
    {SEAM_ASK_IMAGE_RM, true, images_ask_remove},
    {SEAM_ASK_IMAGE_GC, true, images_ask_gc},
    {SEAM_CLIENT_GONE, false, client_gone},
};

static const struct entry *find(uint16_t type)
{
    for (size_t i = 0; i < array_size(table); i++) {
        if (table[i].type == type)
            return &table[i];
    }
    return NULL;
}

void monitor_take(struct front *front, struct seam_message *message)
{
    const struct entry *entry = front->serving ? find(message->header.type) : NULL;
    uint64_t request = message->header.request;

    if (!entry) {
        log_error("front of uid %u: message of type %u out of turn: dropped", front->peer.uid,
            message->header.type);
        seam_message_done(message);
        front_drop(front);
        return;
    }
    if (entry->needs_rule && !may_connect(&front->peer, &front->warden->policy)) {
        seam_message_done(message);
        (void)front_refuse(front, request, REASON_NOT_ALLOWED, "no rule names this user");
        return;
    }
    if (message->header.type == SEAM_ASK_RUN && front->n_open >= OPEN_PER_FRONT) {
        seam_message_done(message);
        (void)front_refuse(front, request, REASON_LEGS_TOO_MANY, "on one connection");
        return;
    }
    entry->take(front, message);
}
