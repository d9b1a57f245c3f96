#include "backlog.h"

#include "types.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct backlog_entry {
    TAILQ_ENTRY(backlog_entry) entry;
    struct seam_writer writer;
    int descriptors[SEAM_DESCRIPTORS_MAX];
    size_t n_descriptors;
    size_t fixed_size;
    uint64_t fixed[]; /* as aligned as any fixed struct */
};

static size_t size_of(const struct backlog_entry *entry)
{
    return sizeof(*entry) + entry->fixed_size + entry->writer.capacity;
}

static void entry_free(struct backlog_entry *entry)
{
    for (size_t i = 0; i < entry->n_descriptors; i++)
        close_fd(&entry->descriptors[i]);
    seam_writer_done(&entry->writer);
    free(entry);
}

void backlog_init(struct backlog *backlog)
{
    *backlog = (struct backlog){0};
    TAILQ_INIT(&backlog->entries);
}

void backlog_done(struct backlog *backlog)
{
    struct backlog_entry *entry;

    while ((entry = TAILQ_FIRST(&backlog->entries))) {
        TAILQ_REMOVE(&backlog->entries, entry, entry);
        entry_free(entry);
    }
    backlog->bytes = 0;
}

static int keep(struct backlog *backlog, struct seam_writer *writer, const void *fixed,
    const int *descriptors, size_t n_descriptors)
{
    const struct seam_type_form *form = seam_type_form(writer->header.type);
    struct backlog_entry *entry;

    if (!form || n_descriptors > SEAM_DESCRIPTORS_MAX)
        return -EINVAL;
    entry = calloc(1, sizeof(*entry) + form->fixed_size);
    if (!entry)
        return -ENOMEM;
    memcpy(entry->fixed, fixed, form->fixed_size);
    entry->fixed_size = form->fixed_size;
    entry->writer = *writer;
    *writer = (struct seam_writer){0};
    for (size_t i = 0; i < n_descriptors; i++) {
        entry->descriptors[i] = fcntl(descriptors[i], F_DUPFD_CLOEXEC, 16);
        if (entry->descriptors[i] < 0) {
            int error = errno;

            entry_free(entry);
            return -error;
        }
        entry->n_descriptors++;
    }
    if (backlog->bytes + size_of(entry) > BACKLOG_BYTES) {
        entry_free(entry);
        return -EOVERFLOW;
    }
    backlog->bytes += size_of(entry);
    TAILQ_INSERT_TAIL(&backlog->entries, entry, entry);
    return -EAGAIN;
}

int backlog_send(struct backlog *backlog, int channel, struct seam_writer *writer,
    const void *fixed, const int *descriptors, size_t n_descriptors)
{
    int r = -EAGAIN;

    if (TAILQ_EMPTY(&backlog->entries))
        r = seam_send(channel, writer, fixed, descriptors, n_descriptors);
    if (r == -EAGAIN)
        r = keep(backlog, writer, fixed, descriptors, n_descriptors);
    seam_writer_done(writer);
    return r;
}

int backlog_flush(struct backlog *backlog, int channel)
{
    struct backlog_entry *entry;

    while ((entry = TAILQ_FIRST(&backlog->entries))) {
        int r = seam_send(
            channel, &entry->writer, entry->fixed, entry->descriptors, entry->n_descriptors);

        if (r != 0)
            return r;
        TAILQ_REMOVE(&backlog->entries, entry, entry);
        backlog->bytes -= size_of(entry);
        entry_free(entry);
    }
    return 0;
}

bool backlog_is_empty(const struct backlog *backlog)
{
    return TAILQ_EMPTY(&backlog->entries);
}

bool backlog_is_full(const struct backlog *backlog)
{
    return backlog->bytes > BACKLOG_FULL;
}
