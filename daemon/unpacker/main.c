/* saphan-unpacker - takes an image apart, once.
 *
 * What it should do: read an OCI layout, a docker-archive or a plain root directory from a
 * descriptor that the requester opened; hold every part to its digest; write each layer that the
 * store does not have into the staging directory, as overlayfs wants it; say what the image is and
 * how it is to be run.  Or: empty a directory of the store.  Then it ends.
 *
 * What it must not: write anywhere else, follow a link of an image, take an entry that leads out of
 * its layer, believe a size, a digest or a media type, or keep anything of an image it refuses.
 *
 * What an attacker who owns it gains: it runs as root of a user namespace of its own, whose ids own
 * the store and nothing else on the host; in an empty root, without network, under Landlock and a
 * list of system calls, with detached mounts of one staging directory, of the source (read-only,
 * with the requester's rights), and of the layers that the requester's own images share.  So he can
 * put a false content under a digest, for the requester's own images, and lie about this image.
 * Everybody else's layers are other directories: see image_store.c of the warden.
 */
#include "clear.h"
#include "copy.h"
#include "layer.h"
#include "manifest.h"
#include "passwd.h"
#include "walls.h"

#include "log.h"
#include "own.h"
#include "steps.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define CHANNEL 3

/* Descriptors of SEAM_UNPACK. */
enum { GIVEN_ROOT, GIVEN_STAGING, GIVEN_SOURCE, GIVEN_COUNT };

struct job {
    const struct seam_unpack *unpack;
    const char *reference;
    int staging;
    struct source source;
    struct description description;
    struct trouble trouble;
    int layers[IMAGE_LAYERS_MAX];
    uint64_t bytes, entries; /* of the layers so far */
};

/* ---- speaking ---- */

static int say(struct seam_writer *writer, const void *fixed)
{
    struct pollfd room = {.fd = CHANNEL, .events = POLLOUT};
    int r;

    while ((r = seam_send(CHANNEL, writer, fixed, NULL, 0)) == -EAGAIN) {
        if (poll(&room, 1, -1) < 0 && errno != EINTR)
            break;
    }
    seam_writer_done(writer);
    if (r != 0)
        _exit(1); /* nobody listens any more, or our own message does not fit */
    return 0;
}

static int say_end(uint16_t type, uint64_t value)
{
    struct seam_writer writer;

    seam_writer_init(&writer, type, 0);
    return say(&writer, &(struct seam_end){.value = value});
}

static void say_refused(const struct trouble *trouble)
{
    struct seam_unpack_refused refused = {.reason = trouble->reason, .error = trouble->error};
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_UNPACK_REFUSED, 0);
    refused.detail = seam_put_text(&writer, trouble->detail);
    (void)say(&writer, &refused);
}

static size_t length_of(char *const *list)
{
    size_t count = 0;

    while (list && list[count])
        count++;
    return count;
}

static struct seam_list put_list(struct seam_writer *writer, char *const *list)
{
    return seam_put_list(writer, (const char *const *)list, length_of(list));
}

static void say_unpacked(const struct job *job)
{
    const struct description *about = &job->description;
    struct seam_unpacked unpacked = {.n_layers = about->n_layers};
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_UNPACKED, 0);
    memcpy(unpacked.digest, about->digest, DIGEST_BYTES);
    unpacked.architecture = seam_put_text(&writer, about->architecture);
    unpacked.user = seam_put_text(&writer, about->user);
    unpacked.directory = seam_put_text(&writer, about->directory);
    unpacked.env = put_list(&writer, about->env);
    unpacked.entrypoint = put_list(&writer, about->entrypoint);
    unpacked.command = put_list(&writer, about->command);
    (void)say(&writer, &unpacked);
}

/* ---- layers ---- */

/* Asks which are there already: those come back as descriptors. */
static int ask_have(struct job *job, uint8_t have[IMAGE_LAYERS_MAX])
{
    struct seam_unpack_layers layers = {.n_layers = job->description.n_layers};
    const struct seam_unpack_have *answer;
    struct seam_message message;
    struct seam_writer writer;
    size_t taken = 0;

    for (uint32_t i = 0; i < layers.n_layers; i++)
        memcpy(layers.digests[i], job->description.layers[i].content, DIGEST_BYTES);
    seam_writer_init(&writer, SEAM_UNPACK_LAYERS, 0);
    (void)say(&writer, &layers);
    if (seam_receive(CHANNEL, &message) != 0 || message.header.type != SEAM_UNPACK_HAVE)
        _exit(1);
    answer = message.fixed;
    for (uint32_t i = 0; i < layers.n_layers; i++) {
        have[i] = answer->have[i];
        if (!have[i])
            continue;
        if (taken == message.n_descriptors)
            _exit(1);
        job->layers[i] = steal_fd(&message.descriptors[taken++]);
    }
    seam_message_done(&message);
    return 0;
}

static int make_layer(struct job *job, uint32_t index)
{
    char name[16];

    (void)snprintf(name, sizeof(name), "%u", index);
    if (mkdirat(job->staging, name, 0755) < 0)
        return trouble_set(&job->trouble, REASON_IMAGE_FAILED, errno, "layer %u", index);
    job->layers[index] = openat(job->staging, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return job->layers[index] < 0
               ? trouble_set(&job->trouble, REASON_IMAGE_FAILED, errno, "layer %u", index)
               : 0;
}

static void say_layer(const struct job *job, uint32_t index, const struct tree *tree)
{
    struct seam_unpacked_layer layer = {
        .layer = index, .bytes = tree->bytes - job->bytes, .entries = tree->entries - job->entries};
    struct seam_writer writer;

    memcpy(layer.digest, job->description.layers[index].content, DIGEST_BYTES);
    seam_writer_init(&writer, SEAM_UNPACKED_LAYER, 0);
    (void)say(&writer, &layer);
}

/* An image that names one layer twice has it once on disk. */
static bool is_there_already(const struct job *job, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++) {
        if (memcmp(job->description.layers[i].content, job->description.layers[index].content,
                DIGEST_BYTES) == 0)
            return true;
    }
    return false;
}

static int fill_layer(struct job *job, uint32_t index, bool plain_root)
{
    struct tree tree;
    int r = make_layer(job, index);

    if (r != 0)
        return r;
    if (tree_init(&tree, job->layers[index]) < 0)
        return trouble_set(&job->trouble, REASON_IMAGE_FAILED, errno, "layer %u", index);
    tree.bytes = job->bytes;
    tree.entries = job->entries;
    tree.max_bytes = job->unpack->max_bytes;
    tree.max_entries = job->unpack->max_entries;
    r = plain_root ? copy_tree(job->source.fd, &tree, job->description.layers[index].content,
                         &job->trouble)
                   : layer_unpack(&job->description.layers[index], &tree, &job->trouble);
    if (r == 0)
        say_layer(job, index, &tree);
    job->bytes = tree.bytes;
    job->entries = tree.entries;
    tree_done(&tree);
    return r;
}

static int take_layers(struct job *job)
{
    uint8_t have[IMAGE_LAYERS_MAX] = {0};
    int r = ask_have(job, have);

    for (uint32_t i = 0; r == 0 && i < job->description.n_layers; i++) {
        if (!have[i] && !is_there_already(job, i))
            r = fill_layer(job, i, false);
    }
    return r;
}

/* ---- the image ---- */

static int say_account(void *context, const struct passwd_entry *entry)
{
    uint32_t *left = context;
    struct seam_unpacked_account account = {
        .group = entry->group, .id = entry->id, .gid = entry->gid};
    struct seam_writer writer;

    if (*left == 0)
        return 0;
    --*left;
    seam_writer_init(&writer, SEAM_UNPACKED_ACCOUNT, 0);
    account.name = seam_put_text(&writer, entry->name);
    return say(&writer, &account);
}

/* A layer that is named twice stands once: its second place has no descriptor. */
static int say_accounts(struct job *job)
{
    uint32_t left = IMAGE_ACCOUNTS_MAX, count = 0;
    int layers[IMAGE_LAYERS_MAX], r;

    for (uint32_t i = 0; i < job->description.n_layers; i++) {
        if (job->layers[i] >= 0)
            layers[count++] = job->layers[i];
    }
    r = passwd_read(layers, count, "passwd", say_account, &left);
    if (r == 0)
        r = passwd_read(layers, count, "group", say_account, &left);
    return r < 0 ? trouble_set(&job->trouble, REASON_IMAGE_FAILED, -r, "/etc/passwd") : 0;
}

static bool looks_like_a_root(int fd)
{
    static const char *const names[] = {"bin", "usr", "etc", "sbin"};
    struct stat st;

    for (size_t i = 0; i < array_size(names); i++) {
        if (fstatat(fd, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
            return true;
    }
    return false;
}

static int take_root(struct job *job)
{
    struct description *about = &job->description;
    int r;

    if (!looks_like_a_root(job->source.fd))
        return trouble_set(&job->trouble, REASON_IMAGE_SOURCE, 0,
            "no oci-layout, no manifest.json, and none of bin, usr, etc in it");
    about->n_layers = 1;
    r = fill_layer(job, 0, true);
    memcpy(about->digest, about->layers[0].content, DIGEST_BYTES);
    return r;
}

/* What the ledger is told of must not be lost with the power. */
static int sync_staging(struct job *job)
{
    auto_close int staging = openat(job->staging, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (staging < 0 || syncfs(staging) < 0)
        return trouble_set(&job->trouble, REASON_IMAGE_FAILED, errno, "syncfs");
    return 0;
}

static int take_image(struct job *job)
{
    int r = source_open(&job->source, job->source.fd, &job->trouble);

    if (r != 0)
        return r;
    if (manifest_is_there(&job->source)) {
        r = manifest_read(&job->source, job->reference, &job->description, &job->trouble);
        if (r == 0)
            r = take_layers(job);
    } else if (job->source.directory) {
        r = take_root(job);
    } else {
        r = trouble_set(&job->trouble, REASON_IMAGE_SOURCE, 0,
            "a file with neither oci-layout nor manifest.json in it");
    }
    if (r == 0)
        r = say_accounts(job);
    return r == 0 ? sync_staging(job) : r;
}

static int confine(int root, int staging)
{
    struct fault fault = {0};

    (void)setlocale(LC_CTYPE, "C.UTF-8");
    if (walls_raise(root, staging, &fault) == 0)
        return 0;
    log_error(
        "step %s: %s: %s", step_slug(fault.step), fault.subject, fault_errno_name(fault.error));
    return -fault.error;
}

static int unpack(const struct seam_message *message)
{
    static struct job job;

    if (message->n_descriptors != GIVEN_COUNT)
        return 1;
    job.unpack = message->fixed;
    job.reference = seam_text(message, job.unpack->reference);
    job.staging = message->descriptors[GIVEN_STAGING];
    job.source.fd = message->descriptors[GIVEN_SOURCE];
    for (size_t i = 0; i < IMAGE_LAYERS_MAX; i++)
        job.layers[i] = -EBADF;
    if (confine(message->descriptors[GIVEN_ROOT], job.staging) < 0)
        return 1;
    if (take_image(&job) == 0)
        say_unpacked(&job);
    else
        say_refused(&job.trouble);
    return 0;
}

static int clear(const struct seam_message *message)
{
    if (message->n_descriptors != 2 ||
        confine(message->descriptors[0], message->descriptors[1]) < 0)
        return 1;
    return say_end(SEAM_CLEARED, (uint64_t)-clear_directory(message->descriptors[1]));
}

int main(void)
{
    struct seam_message message;
    int r;

    log_open("saphan-unpacker", LOG_LEVEL_INFO);
    r = seam_receive(CHANNEL, &message);
    if (r == SEAM_E_CLOSED)
        _exit(0);
    if (r != 0)
        _exit(1);
    if (message.header.type == SEAM_UNPACK)
        _exit(unpack(&message));
    _exit(message.header.type == SEAM_CLEAR ? clear(&message) : 1);
}
