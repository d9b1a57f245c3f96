#include "outbox.h"

#include "types.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct outbox_entry {
    TAILQ_ENTRY(outbox_entry) entry;
    struct seam_writer writer;
    int descriptors[SEAM_DESCRIPTORS_MAX];
    size_t n_descriptors;
    size_t fixed_size;
    uint64_t fixed[]; /* as aligned as any fixed struct */
};

static size_t size_of(const struct outbox_entry *entry)
{
    return sizeof(*entry) + entry->fixed_size + entry->writer.capacity;
}

static void entry_free(struct outbox_entry *entry)
{
    for (size_t i = 0; i < entry->n_descriptors; i++)
        close_fd(&entry->descriptors[i]);
    seam_writer_done(&entry->writer);
    free(entry);
}

void outbox_init(struct outbox *outbox)
{
    *outbox = (struct outbox){0};
    TAILQ_INIT(&outbox->entries);
}

void outbox_done(struct outbox *outbox)
{
    struct outbox_entry *entry;

    while ((entry = TAILQ_FIRST(&outbox->entries))) {
        TAILQ_REMOVE(&outbox->entries, entry, entry);
        entry_free(entry);
    }
    outbox->bytes = 0;
}

static int keep(struct outbox *outbox, struct seam_writer *writer, const void *fixed,
    const int *descriptors, size_t n_descriptors)
{
    const struct seam_type_form *form = seam_type_form(writer->header.type);
    struct outbox_entry *entry;

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
    if (outbox->bytes + size_of(entry) > OUTBOX_BYTES) {
        entry_free(entry);
        return -EOVERFLOW;
    }
    outbox->bytes += size_of(entry);
    TAILQ_INSERT_TAIL(&outbox->entries, entry, entry);
    return -EAGAIN;
}

int outbox_send(struct outbox *outbox, int channel, struct seam_writer *writer, const void *fixed,
    const int *descriptors, size_t n_descriptors)
{
    int r = -EAGAIN;

    if (TAILQ_EMPTY(&outbox->entries))
        r = seam_send(channel, writer, fixed, descriptors, n_descriptors);
    if (r == -EAGAIN)
        r = keep(outbox, writer, fixed, descriptors, n_descriptors);
    seam_writer_done(writer);
    return r;
}

int outbox_flush(struct outbox *outbox, int channel)
{
    struct outbox_entry *entry;

    while ((entry = TAILQ_FIRST(&outbox->entries))) {
        int r = seam_send(
            channel, &entry->writer, entry->fixed, entry->descriptors, entry->n_descriptors);

        if (r != 0)
            return r;
        TAILQ_REMOVE(&outbox->entries, entry, entry);
        outbox->bytes -= size_of(entry);
        entry_free(entry);
    }
    return 0;
}
