#include "layer.h"

#include "own.h"
#include "text.h"
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER (1024 * 1024)
#define BLOCK 512

DEFINE_AUTO(struct archive *, archive_read_free);

/* blob -> sha256 -> decompression -> sha256 -> tar.  A plain layer has the one hash alone. */
struct flow {
    const struct layer_source *layer;
    struct tree *tree;
    struct trouble *trouble;
    uint64_t at;   /* in the blob */
    uint64_t told; /* bytes of the tar so far */
    bool plain;
    bool ended;  /* the tar's last byte was read */
    bool padded; /* and what it lacks to a whole block was made up */
    struct sha256_ctx stored, content;
    struct archive *unpacking; /* libarchive's "raw" format: nothing but the filter */
    int failed;                /* UNPACK_E_REFUSED: the trouble is told already */
    char *buffer;
};

/* ---- what is stored ---- */

static la_ssize_t read_blob(struct archive *archive, void *context, const void **ret)
{
    struct flow *flow = context;
    long n = blob_read(&flow->layer->blob, flow->at, flow->buffer, BUFFER);

    if (n < 0) {
        archive_set_error(archive, (int)-n, "read");
        return ARCHIVE_FATAL;
    }
    sha256_update(&flow->stored, (size_t)n, (const uint8_t *)flow->buffer);
    flow->at += (uint64_t)n;
    *ret = flow->buffer;
    return n;
}

/* A filter may end before what is stored does. */
static int finish_stored(struct flow *flow)
{
    const struct layer_source *layer = flow->layer;
    uint8_t found[SHA256_DIGEST_SIZE];
    const void *bytes;

    if (!layer->has_digest)
        return 0;
    while (flow->at < layer->blob.size) {
        long n = read_blob(flow->unpacking, flow, &bytes);

        if (n <= 0)
            return trouble_set(flow->trouble, REASON_IMAGE_INCOMPLETE, EIO, "%s", layer->name);
    }
    sha256_digest(&flow->stored, SHA256_DIGEST_SIZE, found);
    if (memcmp(found, layer->digest, sizeof(found)) != 0)
        return trouble_set(flow->trouble, REASON_IMAGE_DIGEST, 0, "%s", layer->name);
    return 0;
}

/* ---- what is in it ---- */

/* Bytes of the tar that are no file's content are bounded with the files' own: headers, padding,
 * and whatever stands behind its end. */
static bool is_too_much(const struct flow *flow)
{
    const struct tree *tree = flow->tree;

    return flow->told / 2 > tree->max_bytes + tree->max_entries * 1024;
}

static la_ssize_t read_unpacked(struct flow *flow, const void **ret)
{
    la_int64_t offset;
    size_t size;
    int r = archive_read_data_block(flow->unpacking, ret, &size, &offset);

    if (r == ARCHIVE_EOF)
        return 0;
    return r != ARCHIVE_OK && r != ARCHIVE_WARN ? -1 : (la_ssize_t)size;
}

/* Some write a tar file without the zeros behind its last file (umoci 0.4's `insert`), and other
 * readers take it.  They are made up here, and are no part of what is hashed: a layer that was cut
 * off is not what its digest says. */
static la_ssize_t pad(struct flow *flow, const void **ret)
{
    static const char zeros[BLOCK];
    size_t over = flow->told % BLOCK;

    flow->ended = true;
    if (over == 0 || flow->padded)
        return 0;
    flow->padded = true;
    *ret = zeros;
    return (la_ssize_t)(BLOCK - over);
}

static la_ssize_t read_content(struct archive *archive, void *context, const void **ret)
{
    struct flow *flow = context;
    la_ssize_t n = flow->plain ? read_blob(archive, flow, ret) : read_unpacked(flow, ret);

    if (n < 0) {
        if (!flow->plain)
            archive_copy_error(archive, flow->unpacking);
        return ARCHIVE_FATAL;
    }
    if (n == 0)
        return pad(flow, ret);
    flow->told += (uint64_t)n;
    if (is_too_much(flow)) {
        flow->failed = trouble_set(flow->trouble, REASON_IMAGE_TOO_BIG, 0,
            "%s: it unpacks to more than %llu bytes", flow->layer->name,
            (unsigned long long)flow->told);
        archive_set_error(archive, EFBIG, "too big");
        return ARCHIVE_FATAL;
    }
    if (!flow->plain)
        sha256_update(&flow->content, (size_t)n, *ret);
    return n;
}

static int broken(struct flow *flow, struct archive *archive)
{
    const char *text = archive_error_string(archive);

    return flow->failed ? flow->failed
                        : trouble_set(flow->trouble, REASON_IMAGE_INCOMPLETE, 0, "%s: %s",
                              flow->layer->name, text ? text : "not of its form");
}

/* ---- entries ---- */

static int write_content(struct flow *flow, struct archive *archive, const char *path, int fd,
    const struct tree_entry *entry)
{
    const void *bytes;
    la_int64_t offset, end = 0;
    size_t size;
    int r;

    while ((r = archive_read_data_block(archive, &bytes, &size, &offset)) == ARCHIVE_OK ||
           r == ARCHIVE_WARN) {
        if (offset < end || (uint64_t)offset > INT64_MAX / 2)
            return trouble_set(
                flow->trouble, REASON_IMAGE_ENTRY, 0, "%s: a hole that leads back", entry->path);
        end = offset + (la_int64_t)size;
        for (size_t at = 0; at < size;) {
            ssize_t n = pwrite(fd, (const char *)bytes + at, size - at, offset + (off_t)at);

            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                return trouble_set(flow->trouble, REASON_IMAGE_FAILED, errno, "%s", path);
            at += (size_t)n;
        }
    }
    return r == ARCHIVE_EOF ? 0 : broken(flow, archive);
}

static int take_file(struct flow *flow, struct archive *archive, struct archive_entry *from,
    const char *path, const struct tree_entry *entry)
{
    uint64_t size = archive_entry_size(from) < 0 ? 0 : (uint64_t)archive_entry_size(from);
    int fd, r = tree_count(flow->tree, entry->path, size, flow->trouble);

    if (r == 0)
        r = tree_file(flow->tree, path, entry, &fd, flow->trouble);
    if (r != 0)
        return r;
    r = write_content(flow, archive, path, fd, entry);
    if (r == 0 && archive_entry_sparse_count(from) > 0 && ftruncate(fd, (off_t)size) < 0)
        r = trouble_set(flow->trouble, REASON_IMAGE_FAILED, errno, "%s", path);
    if (r != 0) {
        close(fd);
        return r;
    }
    return tree_file_done_take(flow->tree, fd, entry, flow->trouble);
}

/* Beneath /dev a leg sees its own devices, whatever an image has there. */
static int take_device(struct flow *flow, const char *path, const struct tree_entry *entry)
{
    if (text_starts_with(path, "dev/"))
        return 0;
    return trouble_set(flow->trouble, REASON_IMAGE_ENTRY, 0, "%s: a device", entry->path);
}

static int take_kind(struct flow *flow, struct archive *archive, struct archive_entry *from,
    const char *path, const struct tree_entry *entry)
{
    const char *link = archive_entry_symlink(from);

    if (tree_is_whiteout(path))
        return tree_whiteout(flow->tree, path, entry, flow->trouble);
    if (archive_entry_hardlink(from))
        return tree_hard_link(flow->tree, path, entry, archive_entry_hardlink(from), flow->trouble);
    switch (archive_entry_filetype(from)) {
    case AE_IFREG:
        return take_file(flow, archive, from, path, entry);
    case AE_IFDIR:
        return tree_directory(flow->tree, path, entry, flow->trouble);
    case AE_IFLNK:
        return tree_link(flow->tree, path, entry, link ? link : "", flow->trouble);
    case AE_IFIFO:
        return tree_fifo(flow->tree, path, entry, flow->trouble);
    case AE_IFCHR:
    case AE_IFBLK:
        return take_device(flow, path, entry);
    default:
        return trouble_set(
            flow->trouble, REASON_IMAGE_ENTRY, 0, "%s: of an unknown kind", entry->path);
    }
}

static int take_entry(struct flow *flow, struct archive *archive, struct archive_entry *from)
{
    struct tree_entry entry = {.path = archive_entry_pathname(from),
        .mode = archive_entry_mode(from),
        .uid = (uint64_t)archive_entry_uid(from),
        .gid = (uint64_t)archive_entry_gid(from),
        .mtime = {archive_entry_mtime(from), archive_entry_mtime_nsec(from)}};
    char path[PATH_MAX];
    int r = tree_name(entry.path, path, flow->trouble);

    if (r != 0)
        return r;
    if (!path[0] && archive_entry_filetype(from) != AE_IFDIR)
        return trouble_set(flow->trouble, REASON_IMAGE_ENTRY, 0,
            "%s: no directory in the place "
            "of the root",
            entry.path);
    return take_kind(flow, archive, from, path, &entry);
}

static int take_entries(struct flow *flow, struct archive *archive)
{
    struct archive_entry *entry;
    const void *bytes;
    int r;

    while ((r = archive_read_next_header(archive, &entry)) == ARCHIVE_OK || r == ARCHIVE_WARN) {
        r = take_entry(flow, archive, entry);
        if (r != 0)
            return r;
    }
    if (r != ARCHIVE_EOF)
        return broken(flow, archive);
    while (!flow->ended) { /* what stands behind the tar's end is in its digest too */
        if (read_content(archive, flow, &bytes) < 0)
            return broken(flow, archive);
    }
    return 0;
}

/* ---- all of it ---- */

static enum compression found_compression(const struct blob *blob)
{
    unsigned char magic[4] = {0};

    if (blob_read(blob, 0, magic, sizeof(magic)) != sizeof(magic))
        return COMPRESSION_NONE;
    if (magic[0] == 0x1f && magic[1] == 0x8b)
        return COMPRESSION_GZIP;
    return memcmp(magic, "\x28\xb5\x2f\xfd", 4) == 0 ? COMPRESSION_ZSTD : COMPRESSION_NONE;
}

static int open_filter(struct flow *flow, enum compression compression)
{
    struct archive *archive = flow->unpacking;
    struct archive_entry *entry;

    (void)archive_read_support_format_raw(archive);
    if (compression == COMPRESSION_GZIP)
        (void)archive_read_support_filter_gzip(archive);
    else
        (void)archive_read_support_filter_zstd(archive);
    if (archive_read_set_read_callback(archive, read_blob) != ARCHIVE_OK ||
        archive_read_set_callback_data(archive, flow) != ARCHIVE_OK ||
        archive_read_open1(archive) != ARCHIVE_OK ||
        archive_read_next_header(archive, &entry) != ARCHIVE_OK)
        return broken(flow, archive);
    if (archive_filter_count(archive) < 2) /* not compressed at all, whatever was said */
        return trouble_set(flow->trouble, REASON_IMAGE_INCOMPLETE, 0,
            "%s: not of its media type's compression", flow->layer->name);
    return 0;
}

static int check_content(struct flow *flow)
{
    uint8_t found[SHA256_DIGEST_SIZE];

    sha256_digest(flow->plain ? &flow->stored : &flow->content, SHA256_DIGEST_SIZE, found);
    if (memcmp(found, flow->layer->content, sizeof(found)) != 0)
        return trouble_set(flow->trouble, REASON_IMAGE_DIGEST, 0,
            "%s: what it unpacks to is not what the configuration says", flow->layer->name);
    return 0;
}

/* Of a plain layer what is stored and what is in it is the same. */
static int finish(struct flow *flow)
{
    int r;

    if (!flow->plain) {
        r = finish_stored(flow);
        return r != 0 ? r : check_content(flow);
    }
    if (flow->layer->has_digest &&
        memcmp(flow->layer->digest, flow->layer->content, DIGEST_BYTES) != 0)
        return trouble_set(flow->trouble, REASON_IMAGE_DIGEST, 0,
            "%s: two digests of one plain layer", flow->layer->name);
    return check_content(flow);
}

static int unpack(struct flow *flow, struct archive *archive)
{
    enum compression compression = flow->layer->compression;
    int r = 0;

    if (compression == COMPRESSION_FOUND)
        compression = found_compression(&flow->layer->blob);
    flow->plain = compression == COMPRESSION_NONE;
    if (!flow->plain)
        r = open_filter(flow, compression);
    if (r != 0)
        return r;
    (void)archive_read_support_format_tar(archive);
    (void)archive_read_support_format_empty(archive);
    if (archive_read_set_read_callback(archive, read_content) != ARCHIVE_OK ||
        archive_read_set_callback_data(archive, flow) != ARCHIVE_OK ||
        archive_read_open1(archive) != ARCHIVE_OK)
        return broken(flow, archive);
    r = take_entries(flow, archive);
    if (r == 0)
        r = finish(flow);
    return r != 0 ? r : tree_finish(flow->tree, flow->trouble);
}

int layer_unpack(const struct layer_source *layer, struct tree *tree, struct trouble *trouble)
{
    auto_(archive_read_free) struct archive *archive = archive_read_new();
    auto_(archive_read_free) struct archive *unpacking = archive_read_new();
    auto_free char *buffer = malloc(BUFFER);
    struct flow flow = {
        .layer = layer, .tree = tree, .trouble = trouble, .unpacking = unpacking, .buffer = buffer};

    if (!archive || !unpacking || !buffer)
        return trouble_set(trouble, REASON_IMAGE_FAILED, ENOMEM, "memory");
    sha256_init(&flow.stored);
    sha256_init(&flow.content);
    return unpack(&flow, archive);
}
