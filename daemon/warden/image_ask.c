/* image_ask.c - may this user add this image from this source? */
#include "image_add.h"

#include "grants.h"
#include "images.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define WAITING_MAX 64 /* adds, in all */
#define BYTES_STANDARD (8ULL << 30)
#define ENTRIES_STANDARD 500000

static bool is_name(const char *name)
{
    size_t length = strlen(name);

    return length > 0 && length <= IMAGE_NAME_MAX && !strchr("-./:@", name[0]) &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/@-") ==
               length;
}

/* A descriptor from outside: a directory, or a regular file that can be read and nothing else. */
static enum reason judge_source(struct adding *adding, const struct rule *rule)
{
    int flags = fcntl(adding->source, F_GETFL);
    auto_free char *path = NULL;
    struct statx st;
    enum reason reason;

    if (flags < 0 ||
        statx(adding->source, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) < 0)
        return REASON_IMAGE_SOURCE;
    adding->directory = S_ISDIR(st.stx_mode);
    if (!adding->directory &&
        (!S_ISREG(st.stx_mode) || flags & O_PATH || (flags & O_ACCMODE) != O_RDONLY))
        return REASON_IMAGE_SOURCE;
    reason = grant_look(adding->source, &path);
    if (reason != REASON_NONE)
        return reason;
    return rule_reads(rule, &adding->front->peer, path) ? REASON_NONE
                                                        : REASON_GRANT_OUTSIDE_CEILING;
}

/* Whose NAME is, if it is somebody's already. */
static int judge_name(struct front *front, const char *name)
{
    struct image_record image;
    int r = ledger_image_get(front->warden->ledger, name, &image);
    uint32_t owner;

    if (r < 0)
        return r == -ENOENT ? 0 : r;
    owner = image.owner;
    image_record_done(&image);
    return owner == front->peer.uid || may_change_image(&front->peer, owner, &front->warden->policy)
               ? 0
               : -EPERM;
}

static uint32_t count_addings(const struct warden *warden)
{
    const struct adding *adding;
    uint32_t count = 0;

    TAILQ_FOREACH(adding, &warden->addings, entry)
    count++;
    return count;
}

static struct adding *adding_new(
    struct front *front, struct seam_message *message, const struct rule *rule)
{
    const struct seam_ask_image *ask = message->fixed;
    const char *reference = seam_text(message, ask->reference);
    struct adding *adding = calloc(1, sizeof(*adding));

    if (!adding)
        return NULL;
    *adding = (struct adding){.warden = front->warden,
        .front = front,
        .request = message->header.request,
        .peer = front->peer,
        .name = strdup(seam_text(message, ask->name)),
        .reference = reference && *reference ? strdup(reference) : NULL,
        .max_bytes = rule->image_bytes ? rule->image_bytes : BYTES_STANDARD,
        .max_entries = rule->image_entries ? rule->image_entries : ENTRIES_STANDARD,
        .source = steal_fd(&message->descriptors[0]),
        .unpacker = {.pidfd = -EBADF, .channel = -EBADF}};
    adding->peer.home = NULL; /* the front's, which may go */
    TAILQ_INSERT_TAIL(&adding->warden->addings, adding, entry);
    front->n_open++;
    if (!adding->name) {
        adding_free(adding);
        return NULL;
    }
    return adding;
}

static enum reason judge_ask(struct front *front, const struct seam_message *message)
{
    const struct seam_ask_image *ask = message->fixed;
    const char *name = seam_text(message, ask->name);
    int r;

    if (front->warden->stopping)
        return REASON_STOPPING;
    if (!may_add_images(&front->peer, &front->warden->policy))
        return REASON_IMAGE_NOT_ALLOWED;
    if (!name || !is_name(name) || message->n_descriptors != 1)
        return REASON_REQUEST_MALFORMED;
    if (count_addings(front->warden) >= WAITING_MAX)
        return REASON_OUT_OF_RESOURCES;
    r = judge_name(front, name);
    return r == -EPERM ? REASON_IMAGE_NAME_TAKEN : r < 0 ? REASON_LEDGER_FAILED : REASON_NONE;
}

void images_ask_add(struct front *front, struct seam_message *message)
{
    const struct rule *rule = may_add_images(&front->peer, &front->warden->policy);
    enum reason reason = judge_ask(front, message);
    uint64_t request = message->header.request;
    struct adding *adding = NULL;

    if (reason == REASON_NONE) {
        adding = adding_new(front, message, rule);
        reason = adding ? judge_source(adding, rule) : REASON_OUT_OF_RESOURCES;
    }
    seam_message_done(message);
    if (reason == REASON_NONE)
        addings_start(front->warden);
    else if (adding)
        adding_give_up(adding, reason, "the source");
    else
        (void)front_refuse(front, request, reason, "image add");
}
