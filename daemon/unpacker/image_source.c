#include "image_source.h"

#include "own.h"
#include "path.h"
#include "text.h"
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 512
#define BUFFER (256 * 1024)

DEFINE_AUTO(struct archive *, archive_read_free);

struct reading {
    int fd;
    uint64_t at;
    char buffer[BUFFER];
};

static la_ssize_t read_more(struct archive *archive, void *context, const void **ret)
{
    struct reading *reading = context;
    ssize_t n;

    do
        n = pread(reading->fd, reading->buffer, sizeof(reading->buffer), (off_t)reading->at);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        archive_set_error(archive, errno, "read");
        return ARCHIVE_FATAL;
    }
    reading->at += (uint64_t)n;
    *ret = reading->buffer;
    return n;
}

static la_int64_t skip(struct archive *archive, void *context, la_int64_t size)
{
    struct reading *reading = context;
    struct stat st;
    uint64_t left;

    if (fstat(reading->fd, &st) < 0 || (uint64_t)st.st_size < reading->at)
        return 0;
    left = (uint64_t)st.st_size - reading->at;
    if ((uint64_t)size > left)
        size = (la_int64_t)left;
    reading->at += (uint64_t)size;
    return size;
}

/* Where the data of the entry whose headers begin at AT lie: behind the extension headers and the
 * entry's own.  tar(5). */
static int find_data(int fd, uint64_t at, uint64_t *ret)
{
    unsigned char header[BLOCK];

    for (int i = 0; i < 16; i++) {
        uint64_t size = 0;

        if (pread(fd, header, sizeof(header), (off_t)at) != BLOCK)
            return -EIO;
        at += BLOCK;
        if (!strchr("xgLK", header[156]) || header[156] == '\0') {
            *ret = at;
            return 0;
        }
        for (size_t k = 124; k < 135 && header[k] >= '0' && header[k] <= '7'; k++)
            size = size * 8 + (uint64_t)(header[k] - '0');
        if (size > 1 << 20)
            return -EIO;
        at += (size + BLOCK - 1) / BLOCK * BLOCK;
    }
    return -EIO;
}

static int add_file(struct source *source, const char *name, uint64_t offset, uint64_t size)
{
    if (source->n_files == SOURCE_FILES_MAX)
        return -E2BIG;
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    source->files[source->n_files] =
        (struct source_file){.name = strdup(name), .offset = offset, .size = size};
    return source->files[source->n_files++].name ? 0 : -ENOMEM;
}

static int list(struct source *source, struct archive *archive, struct trouble *trouble)
{
    struct archive_entry *entry;
    int r;

    while ((r = archive_read_next_header(archive, &entry)) == ARCHIVE_OK || r == ARCHIVE_WARN) {
        const char *name = archive_entry_pathname(entry);
        uint64_t offset;

        if (!name || archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry))
            continue;
        r = find_data(source->fd, (uint64_t)archive_read_header_position(archive), &offset);
        if (r == 0)
            r = add_file(source, name, offset, (uint64_t)archive_entry_size(entry));
        if (r < 0)
            return trouble_set(trouble, REASON_IMAGE_SOURCE, -r, "%s", name);
    }
    if (r != ARCHIVE_EOF)
        return trouble_set(trouble, REASON_IMAGE_SOURCE, 0, "as a tar file: %s",
            archive_error_string(archive) ? archive_error_string(archive) : "not of its form");
    return 0;
}

static int list_tar(struct source *source, struct trouble *trouble)
{
    auto_(archive_read_free) struct archive *archive = archive_read_new();
    auto_free struct reading *reading = calloc(1, sizeof(*reading));

    source->files = calloc(SOURCE_FILES_MAX, sizeof(*source->files));
    if (!archive || !reading || !source->files)
        return trouble_set(trouble, REASON_IMAGE_FAILED, ENOMEM, "memory");
    reading->fd = source->fd;
    (void)archive_read_support_format_tar(archive);
    (void)archive_read_set_skip_callback(archive, skip);
    if (archive_read_set_read_callback(archive, read_more) != ARCHIVE_OK ||
        archive_read_set_callback_data(archive, reading) != ARCHIVE_OK ||
        archive_read_open1(archive) != ARCHIVE_OK)
        return trouble_set(trouble, REASON_IMAGE_SOURCE, 0, "as a tar file: %s",
            archive_error_string(archive) ? archive_error_string(archive) : "not of its form");
    return list(source, archive, trouble);
}

int source_open(struct source *source, int fd, struct trouble *trouble)
{
    struct stat st;

    *source = (struct source){.fd = fd};
    if (fstat(fd, &st) < 0)
        return trouble_set(trouble, REASON_IMAGE_SOURCE, errno, "the source");
    source->directory = S_ISDIR(st.st_mode);
    if (source->directory)
        return 0;
    if (!S_ISREG(st.st_mode))
        return trouble_set(trouble, REASON_IMAGE_SOURCE, 0, "neither a directory nor a file");
    return list_tar(source, trouble);
}

void source_done(struct source *source)
{
    for (size_t i = 0; source->files && i < source->n_files; i++)
        free(source->files[i].name);
    free(source->files);
    source->files = NULL;
}

static int find_in_directory(const struct source *source, const char *name, struct blob *ret)
{
    int fd = path_open(source->fd, name, O_RDONLY | O_NONBLOCK, PATH_BENEATH | PATH_NO_SYMLINKS);
    struct stat st;

    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return -EINVAL;
    }
    *ret = (struct blob){.fd = fd, .owned = true, .size = (uint64_t)st.st_size};
    return 0;
}

int source_find(const struct source *source, const char *name, struct blob *ret)
{
    if (source->directory)
        return find_in_directory(source, name, ret);
    for (size_t i = source->n_files; i-- > 0;) { /* of two by one name the later is meant */
        const struct source_file *file = &source->files[i];

        if (!text_equal(file->name, name))
            continue;
        *ret = (struct blob){.fd = source->fd, .offset = file->offset, .size = file->size};
        return 0;
    }
    return -ENOENT;
}

void blob_done(struct blob *blob)
{
    if (blob->owned)
        close_fd(&blob->fd);
}

long blob_read(const struct blob *blob, uint64_t at, void *buffer, size_t size)
{
    ssize_t n;

    if (at >= blob->size)
        return 0;
    if (size > blob->size - at)
        size = (size_t)(blob->size - at);
    do
        n = pread(blob->fd, buffer, size, (off_t)(blob->offset + at));
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}
