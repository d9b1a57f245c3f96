/* image_add.c - from a source to an image: row, staging directory, unpacker, layers, row.
 *
 * Whatever ends an add early (a refusal, a client that went away, an unpacker that died, our own
 * end) leaves a staging directory and a row of image_add, and nothing else: both are swept.  Two
 * adds by one name follow each other, so that the second finds what the first has unpacked. */
#include "image_add.h"

#include "clock.h"
#include "descriptor.h"
#include "idmap.h"
#include "image_store.h"
#include "images.h"
#include "log.h"
#include "mount.h"
#include "program.h"
#include "text.h"
#include "undertaker.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define AT_ONCE 4 /* unpackers */
#define SECONDS 3600

/* ---- the end of one ---- */

void adding_free(struct adding *adding)
{
    struct warden *warden = adding->warden;

    TAILQ_REMOVE(&warden->addings, adding, entry);
    if (adding->front)
        adding->front->n_open--;
    if (adding->readable)
        event_free(adding->readable);
    if (adding->deadline)
        event_free(adding->deadline);
    program_end(warden, &adding->unpacker, adding->peer.uid);
    if (adding->id && !warden->stopping)
        ledger_image_add_end(warden->ledger, adding->id);
    if (adding->staged && !warden->stopping)
        image_store_discard(warden, adding->staged);
    for (uint32_t i = 0; i < IMAGE_LAYERS_MAX; i++)
        free(adding->layers[i]);
    for (uint32_t i = 0; i < adding->n_accounts; i++)
        free(adding->accounts[i].name);
    free(adding->accounts);
    close_fd(&adding->source);
    free(adding->name);
    free(adding->reference);
    free(adding->staged);
    free(adding);
    addings_start(warden);
}

/* Before anything is sent: a front that is dropped then takes nothing of ours along. */
static struct front *leave_front(struct adding *adding)
{
    struct front *front = adding->front;

    if (front)
        front->n_open--;
    adding->front = NULL;
    return front;
}

void adding_give_up(struct adding *adding, enum reason reason, const char *detail)
{
    struct front *front = leave_front(adding);

    if (front)
        (void)front_refuse(front, adding->request, reason, detail);
    adding_free(adding);
}

static void fail(struct adding *adding, const char *what, int error)
{
    char detail[200];

    (void)snprintf(detail, sizeof(detail), "%s: %s", what, fault_errno_name(error));
    log_error("image %s: %s", adding->name, detail);
    adding_give_up(adding, REASON_IMAGE_FAILED, detail);
}

/* ---- what the unpacker says ---- */

static char *layer_name(const struct adding *adding, const uint8_t digest[DIGEST_BYTES])
{
    char hex[65];

    text_format_sha256(digest, hex);
    return text_format("%s-%u", hex, adding->peer.uid);
}

bool image_add_wants(const struct warden *warden, const char *layer)
{
    const struct adding *adding;

    TAILQ_FOREACH(adding, &warden->addings, entry)
    {
        for (uint32_t i = 0; i < adding->n_layers; i++) {
            if (adding->layers[i] && text_equal(adding->layers[i], layer))
                return true;
        }
    }
    return false;
}

/* Those that are there already are handed over: it looks for the image's accounts in them. */
static int answer_have(struct adding *adding)
{
    struct seam_unpack_have have = {0};
    int given[IMAGE_LAYERS_MAX], r = 0;
    struct seam_writer writer;
    size_t n_given = 0;

    for (uint32_t i = 0; r == 0 && i < adding->n_layers; i++) {
        r = ledger_layer_find(
            adding->warden->ledger, adding->digests[i], adding->peer.uid, &adding->layers[i]);
        if (r == -ENOENT) {
            r = 0;
            continue;
        }
        if (r == 0)
            r = given[n_given] = image_store_layer(adding->warden, adding->layers[i]);
        if (r < 0)
            break;
        have.have[i] = 1;
        n_given++;
        r = 0;
    }
    seam_writer_init(&writer, SEAM_UNPACK_HAVE, 0);
    if (r == 0)
        r = seam_send(adding->unpacker.channel, &writer, &have, given, n_given);
    seam_writer_done(&writer);
    for (size_t i = 0; i < n_given; i++)
        close(given[i]);
    return r > 0 ? -EPIPE : r;
}

static int take_layers(struct adding *adding, const struct seam_unpack_layers *layers)
{
    if (adding->n_layers > 0 || layers->n_layers == 0 || layers->n_layers > IMAGE_LAYERS_MAX)
        return -EBADMSG;
    adding->n_layers = layers->n_layers;
    memcpy(adding->digests, layers->digests, sizeof(adding->digests));
    return answer_have(adding);
}

/* A plain root directory is one layer, whose digest is known when it was copied. */
static int take_layer(struct adding *adding, const struct seam_unpacked_layer *layer)
{
    uint32_t i = layer->layer;

    if (i >= IMAGE_LAYERS_MAX || (adding->n_layers > 0 && i >= adding->n_layers) ||
        (adding->n_layers == 0 && i != 0) || adding->layers[i])
        return -EBADMSG;
    if (adding->n_layers == 0) {
        adding->n_layers = 1;
        memcpy(adding->digests[0], layer->digest, DIGEST_BYTES);
    } else if (memcmp(adding->digests[i], layer->digest, DIGEST_BYTES) != 0) {
        return -EBADMSG;
    }
    adding->layers[i] = layer_name(adding, layer->digest);
    if (!adding->layers[i])
        return -ENOMEM;
    adding->fresh[i] = true;
    adding->records[i] = (struct layer_record){
        .owner = adding->peer.uid, .bytes = layer->bytes, .entries = layer->entries};
    memcpy(adding->records[i].digest, layer->digest, DIGEST_BYTES);
    return 0;
}

static int take_account(struct adding *adding, const struct seam_message *message)
{
    const struct seam_unpacked_account *account = message->fixed;
    const char *name = seam_text(message, account->name);

    if (!adding->accounts)
        adding->accounts = calloc(IMAGE_ACCOUNTS_MAX, sizeof(*adding->accounts));
    if (!adding->accounts)
        return -ENOMEM;
    if (!name || strlen(name) > 64 || account->id > 65535 || account->gid > 65535 ||
        adding->n_accounts == IMAGE_ACCOUNTS_MAX)
        return -EBADMSG;
    adding->accounts[adding->n_accounts] = (struct account_record){
        .group = account->group != 0, .id = account->id, .gid = account->gid, .name = strdup(name)};
    return adding->accounts[adding->n_accounts++].name ? 0 : -ENOMEM;
}

/* ---- keeping ---- */

static struct string_block block_of(const struct seam_message *message, struct seam_list list)
{
    return (struct string_block){
        .bytes = list.count > 0 ? (char *)(uintptr_t)seam_list_first(message, list) : NULL,
        .size = list.count > 0 ? list.bytes : 0,
        .count = list.count};
}

static const char *text_or_none(const struct seam_message *message, struct seam_text text)
{
    const char *value = seam_text(message, text);

    return value ? value : "";
}

/* An image that names a layer twice: the second place is the first's. */
static int name_layers(struct adding *adding)
{
    for (uint32_t i = 0; i < adding->n_layers; i++) {
        for (uint32_t j = 0; !adding->layers[i] && j < i; j++) {
            if (memcmp(adding->digests[i], adding->digests[j], DIGEST_BYTES) == 0)
                adding->layers[i] = strdup(adding->layers[j]);
        }
        if (!adding->layers[i])
            return -EBADMSG;
    }
    return adding->n_layers > 0 ? 0 : -EBADMSG;
}

static int keep_layers(struct adding *adding, struct layer_record *records, uint32_t *ret_count)
{
    uint32_t count = 0;
    int r = 0;

    for (uint32_t i = 0; r == 0 && i < adding->n_layers; i++) {
        if (!adding->fresh[i])
            continue;
        r = image_store_keep(adding->warden, adding->staged, i, adding->layers[i]);
        adding->records[i].name = adding->layers[i];
        records[count++] = adding->records[i];
    }
    *ret_count = count;
    return r == 0 ? image_store_sync(adding->warden) : r;
}

static int keep(struct adding *adding, const struct seam_message *message)
{
    const struct seam_unpacked *unpacked = message->fixed;
    auto_free struct layer_record *records = calloc(IMAGE_LAYERS_MAX, sizeof(*records));
    struct image_record image = {.name = adding->name,
        .owner = adding->peer.uid,
        .architecture = (char *)(uintptr_t)text_or_none(message, unpacked->architecture),
        .user = (char *)(uintptr_t)text_or_none(message, unpacked->user),
        .directory = (char *)(uintptr_t)text_or_none(message, unpacked->directory),
        .env = block_of(message, unpacked->env),
        .entrypoint = block_of(message, unpacked->entrypoint),
        .command = block_of(message, unpacked->command),
        .added_ms = clock_wall_ms()};
    uint32_t count;
    int r = records ? name_layers(adding) : -ENOMEM;

    if (r == 0)
        r = keep_layers(adding, records, &count);
    if (r < 0)
        return r;
    memcpy(image.digest, unpacked->digest, DIGEST_BYTES);
    memcpy(image.layers, adding->layers, sizeof(image.layers));
    image.n_layers = adding->n_layers;
    r = ledger_image_put(adding->warden->ledger, adding->id, &image, records, count,
        adding->accounts, adding->n_accounts);
    if (r == 0)
        adding->id = 0; /* its row went with that */
    return r;
}

/* What it stood on before, if it was there by this name, may be nobody's now. */
static void unpacked(struct adding *adding, const struct seam_message *message)
{
    struct warden *warden = adding->warden;
    struct image_record image = {0};
    struct front *front;
    int r = keep(adding, message);

    if (r == 0)
        r = ledger_image_get(warden->ledger, adding->name, &image);
    if (r < 0) {
        fail(adding, "keeping the layers", -r);
        return;
    }
    log_info("image %s: added by uid %u, %u layers, %llu bytes", adding->name, adding->peer.uid,
        image.n_layers, (unsigned long long)image.bytes);
    front = leave_front(adding);
    if (front && image_tell(front, adding->request, &image))
        (void)front_end_reply(front, adding->request, 0);
    image_record_done(&image);
    adding_free(adding);
    (void)images_gc(warden);
}

static void refused(struct adding *adding, const struct seam_message *message)
{
    const struct seam_unpack_refused *refusal = message->fixed;
    const char *detail = seam_text(message, refusal->detail);
    enum reason reason =
        refusal->reason < REASON_COUNT ? (enum reason)refusal->reason : REASON_IMAGE_FAILED;

    adding_give_up(adding, reason, detail ? detail : "");
}

static void unpacker_says(evutil_socket_t fd, short what, void *context)
{
    struct adding *adding = context;
    struct seam_message message;
    int r = seam_receive(adding->unpacker.channel, &message);

    if (r == -EAGAIN)
        return;
    if (r != 0) {
        fail(adding, "the unpacker ended", r < 0 ? -r : EPIPE);
        return;
    }
    switch (message.header.type) {
    case SEAM_UNPACK_LAYERS:
        r = take_layers(adding, message.fixed);
        break;
    case SEAM_UNPACKED_LAYER:
        r = take_layer(adding, message.fixed);
        break;
    case SEAM_UNPACKED_ACCOUNT:
        r = take_account(adding, &message);
        break;
    case SEAM_UNPACKED:
        unpacked(adding, &message);
        break;
    case SEAM_UNPACK_REFUSED:
        refused(adding, &message);
        break;
    default:
        r = -EBADMSG;
    }
    seam_message_done(&message);
    if (r < 0)
        fail(adding, "the unpacker's word", -r);
}

static void unpacker_hangs(evutil_socket_t fd, short what, void *context)
{
    fail(context, "the unpacker", ETIMEDOUT);
}

/* ---- the beginning ---- */

/* The source as the unpacker sees it: read-only, with the requester's ids as its root's, and
 * nothing that is mounted in it.  A file was opened by the requester: it is passed as it is. */
static int expose_source(struct adding *adding, int *ret_fd)
{
    const struct idmap_extent whole = {0, STORE_ID, 65536};
    const struct idmap_extent uid = {adding->peer.uid, STORE_ID, 1};
    const struct idmap_extent gid = {adding->peer.gid, STORE_ID, 1};
    bool root = adding->peer.uid == 0;
    auto_close int mount = -EBADF, ids = -EBADF;
    int r;

    if (!adding->directory) {
        *ret_fd = fcntl(adding->source, F_DUPFD_CLOEXEC, 3);
        return *ret_fd < 0 ? -errno : 0;
    }
    ids = root ? idmap_namespace(&whole, 1, &whole, 1) : idmap_namespace(&uid, 1, &gid, 1);
    if (ids < 0)
        return ids;
    mount = mount_clone(adding->source, "", 0);
    if (mount < 0)
        return mount;
    r = mount_set(mount,
        MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC |
            MOUNT_ATTR_IDMAP,
        ids, false);
    if (r < 0)
        return r;
    *ret_fd = steal_fd(&mount);
    return 0;
}

static int send_job(struct adding *adding, int staging, int source)
{
    struct seam_unpack unpack = {.max_bytes = adding->max_bytes,
        .max_entries = adding->max_entries,
        .plain_ids = adding->peer.uid == 0};
    const int given[] = {image_store_nowhere(adding->warden), staging, source};
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, SEAM_UNPACK, 0);
    unpack.reference = seam_put_text(&writer, adding->reference);
    r = seam_send(adding->unpacker.channel, &writer, &unpack, given, array_size(given));
    seam_writer_done(&writer);
    return r > 0 ? -EPIPE : r;
}

static int watch(struct adding *adding)
{
    static const struct timeval at_most = {.tv_sec = SECONDS};
    struct event_base *loop = adding->warden->loop;

    adding->readable =
        event_new(loop, adding->unpacker.channel, EV_READ | EV_PERSIST, unpacker_says, adding);
    adding->deadline = evtimer_new(loop, unpacker_hangs, adding);
    if (!adding->readable || !adding->deadline || event_add(adding->readable, NULL) < 0 ||
        event_add(adding->deadline, &at_most) < 0)
        return -ENOMEM;
    return 0;
}

static int begin(struct adding *adding)
{
    auto_close int staging = -EBADF, source = -EBADF;
    int r =
        ledger_image_add_begin(adding->warden->ledger, adding->name, adding->peer.uid, &adding->id);

    if (r < 0)
        return r;
    adding->staged = text_format("add-%llu", (unsigned long long)adding->id);
    if (!adding->staged)
        return -ENOMEM;
    r = image_store_stage(adding->warden, adding->staged, &staging);
    if (r == 0)
        r = expose_source(adding, &source);
    if (r == 0)
        r = image_store_unpacker(adding->warden, &adding->unpacker);
    if (r == 0)
        r = send_job(adding, staging, source);
    return r == 0 ? watch(adding) : r;
}

static bool may_start(const struct adding *adding)
{
    const struct adding *other;
    uint32_t running = 0;

    TAILQ_FOREACH(other, &adding->warden->addings, entry)
    {
        running += other->running;
        if (other->running && text_equal(other->name, adding->name))
            return false;
    }
    return running < AT_ONCE && !adding->running;
}

/* In the order they were asked for; a failure changes the list, and comes back here. */
void addings_start(struct warden *warden)
{
    struct adding *adding;

    if (warden->stopping)
        return;
    TAILQ_FOREACH(adding, &warden->addings, entry)
    {
        int r;

        if (!may_start(adding))
            continue;
        adding->running = true;
        r = begin(adding);
        if (r < 0) {
            if (r == -EINVAL && adding->directory)
                adding_give_up(adding, REASON_GRANT_FILESYSTEM, "the source's file system");
            else
                fail(adding, "beginning", -r);
            return;
        }
    }
}

void images_front_gone(struct warden *warden, struct front *front)
{
    struct adding *adding, *next;

    for (adding = TAILQ_FIRST(&warden->addings); adding; adding = next) {
        next = TAILQ_NEXT(adding, entry);
        if (adding->front != front)
            continue;
        front->n_open--;
        adding->front = NULL;
        adding_free(adding);
        next = TAILQ_FIRST(&warden->addings); /* others may have begun, and ended, meanwhile */
    }
}

void images_close(struct warden *warden)
{
    struct adding *adding;

    while ((adding = TAILQ_FIRST(&warden->addings))) {
        adding->front = NULL;
        adding_free(adding);
    }
}
