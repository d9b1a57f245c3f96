/* images.c - what is asked about images, but for adding one (image_add.c). */
#include "images.h"

#include "accounts.h"
#include "fronts.h"
#include "image_add.h"
#include "image_store.h"
#include "ledger_images.h"
#include "leg.h"
#include "leg_image.h"
#include "log.h"
#include "text.h"
#include <errno.h>
#include <string.h>

DEFINE_AUTO(char **, string_list_free);

static uint32_t legs_in(const struct warden *warden, const char *name)
{
    const struct leg *leg;
    uint32_t count = 0;

    TAILQ_FOREACH(leg, &warden->legs, entry)
    count += leg->image && text_equal(leg->image->record.name, name);
    return count;
}

static struct seam_list put_block(struct seam_writer *writer, const struct string_block *block)
{
    const char *strings[512];
    const char *at = block->bytes;
    uint32_t count = block->count < array_size(strings) ? block->count : array_size(strings);

    for (uint32_t i = 0; i < count; i++, at += strlen(at) + 1)
        strings[i] = at;
    return seam_put_list(writer, strings, count);
}

bool image_tell(struct front *front, uint64_t request, const struct image_record *image)
{
    auto_free char *owner = NULL;
    struct seam_image out = {.uid = image->owner,
        .n_layers = image->n_layers,
        .bytes = image->bytes,
        .entries = image->entries,
        .shared_bytes = image->shared_bytes,
        .added_ms = image->added_ms,
        .legs = legs_in(front->warden, image->name)};
    struct seam_writer writer;

    (void)account_name(image->owner, &owner);
    memcpy(out.digest, image->digest, DIGEST_BYTES);
    seam_writer_init(&writer, SEAM_IMAGE, request);
    out.name = seam_put_text(&writer, image->name);
    out.owner = seam_put_text(&writer, owner);
    out.architecture = seam_put_text(&writer, image->architecture);
    out.user = seam_put_text(&writer, image->user);
    out.directory = seam_put_text(&writer, image->directory);
    out.env = put_block(&writer, &image->env);
    out.entrypoint = put_block(&writer, &image->entrypoint);
    out.command = put_block(&writer, &image->command);
    return front_send(front, &writer, &out, NULL, 0);
}

/* ---- list, show ---- */

/* 0: told; -ENOENT: there is none that FRONT's user may see; -EPIPE: the front is gone. */
static int tell_one(struct front *front, uint64_t request, const char *name)
{
    struct image_record image;
    int r = ledger_image_get(front->warden->ledger, name, &image);

    if (r < 0)
        return r;
    if (!may_see_image(&front->peer, name, image.owner, &front->warden->policy))
        r = -ENOENT;
    else if (!image_tell(front, request, &image))
        r = -EPIPE;
    image_record_done(&image);
    return r;
}

int images_tell_next(struct front *front, uint64_t request, char after[IMAGE_NAME_MAX + 1])
{
    int r = ledger_image_next(front->warden->ledger, after);

    if (r < 0)
        return r;
    r = tell_one(front, request, after);
    return r == -ENOENT ? 0 : r;
}

void images_ask_list(struct front *front, struct seam_message *message)
{
    const struct seam_ask_image *ask = message->fixed;
    uint64_t request = message->header.request;
    const char *name = seam_text(message, ask->name);
    int r;

    if (!name || !*name) {
        seam_message_done(message);
        showings_images(front, request);
        return;
    }
    r = tell_one(front, request, name);
    if (r == -ENOENT)
        (void)front_refuse(front, request, REASON_IMAGE_UNKNOWN, name);
    else if (r < 0 && r != -EPIPE)
        (void)front_refuse(front, request, REASON_LEDGER_FAILED, "the images could not be read");
    else if (r == 0)
        (void)front_end_reply(front, request, 0);
    seam_message_done(message);
}

/* ---- rm, gc ---- */

static int remove_one(struct front *front, const char *name, enum reason *ret_reason)
{
    struct warden *warden = front->warden;
    struct image_record image;
    bool seen, may;
    int r = ledger_image_get(warden->ledger, name, &image);

    *ret_reason = r == -ENOENT ? REASON_IMAGE_UNKNOWN : REASON_LEDGER_FAILED;
    if (r < 0)
        return r;
    seen = may_see_image(&front->peer, name, image.owner, &warden->policy);
    may = may_change_image(&front->peer, image.owner, &warden->policy);
    image_record_done(&image);
    *ret_reason = !seen  ? REASON_IMAGE_UNKNOWN
                  : !may ? REASON_IMAGE_NOT_ALLOWED
                         : REASON_LEDGER_FAILED;
    return seen && may ? ledger_image_remove(warden->ledger, name) : -EPERM;
}

/* Its layers go with it, but for those that others have: another image, or a leg that runs. */
void images_ask_remove(struct front *front, struct seam_message *message)
{
    const struct seam_ask_image *ask = message->fixed;
    uint64_t request = message->header.request;
    const char *name = seam_text(message, ask->name);
    enum reason reason = REASON_REQUEST_MALFORMED;
    int r = name ? remove_one(front, name, &reason) : -EINVAL;

    if (r < 0)
        (void)front_refuse(front, request, reason, name ? name : "no name");
    else if (images_gc(front->warden) < 0)
        (void)front_refuse(front, request, REASON_LEDGER_FAILED, "its layers stay: image gc");
    else
        (void)front_end_reply(front, request, 0);
    seam_message_done(message);
}

static bool leg_has(const struct warden *warden, const char *layer)
{
    const struct leg *leg;

    TAILQ_FOREACH(leg, &warden->legs, entry)
    {
        for (uint32_t i = 0; leg->image && i < leg->image->record.n_layers; i++) {
            if (text_equal(leg->image->record.layers[i], layer))
                return true;
        }
    }
    return false;
}

int images_gc(struct warden *warden)
{
    auto_(string_list_free) char **layers = NULL;
    int count = 0, r = ledger_layers_unused(warden->ledger, &layers);

    for (char **at = layers; r == 0 && *at; at++) {
        if (leg_has(warden, *at) || image_add_wants(warden, *at))
            continue;
        r = ledger_layer_forget(warden->ledger, *at);
        if (r == 0)
            r = image_store_drop(warden, *at);
        count++;
    }
    return r < 0 ? r : count;
}

void images_ask_gc(struct front *front, struct seam_message *message)
{
    uint64_t request = message->header.request;
    int r;

    seam_message_done(message);
    if (!may_add_images(&front->peer, &front->warden->policy)) {
        (void)front_refuse(front, request, REASON_IMAGE_NOT_ALLOWED, "gc");
        return;
    }
    r = images_gc(front->warden);
    if (r < 0)
        (void)front_refuse(front, request, REASON_LEDGER_FAILED, "not all unused layers went");
    else
        (void)front_end_reply(front, request, (uint64_t)r);
}
