/* serve.c - what the warden says: whom the door serves, and what of its list changes. */
#include "door.h"

#include "fault.h"
#include "outlets.h"
#include "passage.h"
#include "resolve.h"
#include "steps.h"
#include "tls_client.h"
#include <errno.h>
#include <string.h>

static int take_hosts(
    struct door *door, const struct seam_message *message, const struct seam_door *serve)
{
    if (serve->n_hosts > HOSTS_MAX)
        return -EBADMSG;
    for (uint32_t i = 0; i < serve->n_hosts; i++) {
        if (!seam_host(message, &serve->hosts[i], &door->hosts[i]))
            return -EBADMSG;
    }
    door->n_hosts = serve->n_hosts;
    return 0;
}

/* What FORWARD points to lies in the message, which goes. */
static int keep_texts(struct door_forward *forward)
{
    if (forward->forward.path) {
        forward->path = strdup(forward->forward.path);
        if (!forward->path)
            return -ENOMEM;
        forward->forward.path = forward->path;
    }
    if (forward->forward.header) {
        forward->header = strdup(forward->forward.header);
        if (!forward->header)
            return -ENOMEM;
        forward->forward.header = forward->header;
    }
    return 0;
}

static int take_forwards(
    struct door *door, const struct seam_message *message, const struct seam_door *serve)
{
    if (serve->n_forwards > FORWARDS_MAX)
        return -EBADMSG;
    for (uint32_t i = 0; i < serve->n_forwards; i++) {
        struct door_forward *forward = &door->forwards[i];

        if (!seam_forward(message, &serve->forwards[i], &forward->forward) ||
            keep_texts(forward) < 0)
            return -EBADMSG;
        forward->on_list = forward->forward.host;
    }
    door->n_forwards = serve->n_forwards;
    return 0;
}

static int open_outlets(struct door *door, struct seam_message *message)
{
    size_t count = door->n_forwards + 2;

    if (message->n_descriptors < count)
        return -EBADMSG;
    for (size_t i = 0; i < count; i++) {
        struct outlet *outlet = &door->outlets[i];
        int r;

        outlet->forward = i < 2 ? 0 : (uint32_t)i - 2;
        r = outlet_open(door, outlet, steal_fd(&message->descriptors[i]),
            i == 0   ? WAY_HTTP
            : i == 1 ? WAY_SOCKS
                     : WAY_FORWARD);
        if (r < 0)
            return r;
    }
    door->n_outlets = count;
    return 0;
}

static int descriptor_at(const struct seam_message *message, int32_t index)
{
    return index >= 0 && (size_t)index < message->n_descriptors ? message->descriptors[index]
                                                                : -EBADF;
}

/* The header's value and the authorities are read now: the door opens nothing itself. */
static int open_tls(struct door *door, const struct seam_message *message,
    const struct seam_door *serve, struct fault *ret_fault)
{
    for (size_t i = 0; i < door->n_forwards; i++) {
        int32_t own = serve->forwards[i].ca;
        int r;

        if (door->forwards[i].forward.kind != FORWARD_TLS)
            continue;
        r = door->locked ? 0 : locked_take(DOOR_LOCKED_BYTES, &door->locked);
        if (r < 0)
            return fault_set(ret_fault, STEP_DOOR, -r, "locked memory");
        r = tls_client_open(&door->forwards[i],
            descriptor_at(message, own >= 0 ? own : serve->authorities),
            descriptor_at(message, serve->forwards[i].key), ret_fault);
        if (r < 0)
            return r;
    }
    return 0;
}

int door_serve(struct door *door, struct seam_message *message, struct fault *ret_fault)
{
    const struct seam_door *serve = message->fixed;
    int r;

    door->leg = serve->leg;
    r = take_hosts(door, message, serve);
    if (r == 0)
        r = take_forwards(door, message, serve);
    if (r < 0)
        return fault_set(ret_fault, STEP_DOOR, -r, "the list");
    r = resolve_open(door, descriptor_at(message, serve->resolv_conf), message, serve->resolvers);
    if (r < 0)
        return fault_set(ret_fault, STEP_DOOR, -r, "the resolvers");
    r = open_tls(door, message, serve, ret_fault);
    if (r < 0)
        return r;
    r = open_outlets(door, message);
    if (r < 0)
        return fault_set(ret_fault, STEP_DOOR, -r, "the leg's listening sockets");
    door->serving = true;
    return 0;
}

/* ---- the list changes ---- */

void door_allow(struct door *door, const struct host_pattern *pattern)
{
    for (size_t i = 0; i < door->n_hosts; i++) {
        if (host_pattern_equal(&door->hosts[i], pattern))
            return;
    }
    if (door->n_hosts < HOSTS_MAX)
        door->hosts[door->n_hosts++] = *pattern;
}

/* Forwards are fixed: their targets are not on the list. */
static bool still_fits(const struct passage *passage)
{
    const struct door *door = passage->door;

    return passage->way == WAY_FORWARD || passage->state == PASSAGE_HEAD ||
           passage->state == PASSAGE_ENDING ||
           host_list_find(door->hosts, door->n_hosts, &passage->target);
}

static void cut_what_does_not_fit(struct door *door)
{
    struct passage *passage, *next;

    for (passage = TAILQ_FIRST(&door->passages); passage; passage = next) {
        next = TAILQ_NEXT(passage, entry);
        if (!still_fits(passage))
            passage_cut(passage, REASON_HOST_DENIED);
    }
}

void door_deny(struct door *door, const struct host_pattern *pattern)
{
    size_t kept = 0;

    for (size_t i = 0; i < door->n_hosts; i++) {
        if (!host_pattern_covers(pattern, &door->hosts[i]))
            door->hosts[kept++] = door->hosts[i];
    }
    door->n_hosts = kept;
    cut_what_does_not_fit(door);
}
