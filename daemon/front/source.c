#include "source.h"

#include "encode.h"
#include "own.h"
#include <errno.h>

#define PIECE (32U * 1024U)

void source_open_pipe_take(struct source *source, uint32_t stream, int fd)
{
    *source = (struct source){.kind = SOURCE_PIPE, .stream = stream, .fd = fd};
}

int source_open_kept_take(struct source *source, uint32_t stream, int fd)
{
    auto_close int owned = fd;
    struct kept_reader kept;

    if (kept_open(&kept, owned) < 0)
        return SOURCE_E_BROKEN;
    *source = (struct source){.kind = SOURCE_KEPT, .stream = stream, .fd = steal_fd(&owned)};
    source->kept = kept;
    return 0;
}

void source_close(struct source *source)
{
    if (source->kind != SOURCE_NONE)
        close_fd(&source->fd);
    source->kind = SOURCE_NONE;
}

static int pump_pipe(struct source *source, uint64_t request, struct outbox *outbox)
{
    char piece[PIECE];
    ssize_t n;

    do {
        n = read(source->fd, piece, sizeof(piece));
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    if (n == 0)
        return SOURCE_E_END;
    return encode_output(source->stream, piece, (size_t)n, 0, request, outbox);
}

static int pump_kept(struct source *source, uint64_t request, struct outbox *outbox)
{
    char piece[PIECE];
    uint64_t lost = 0;
    ssize_t n = kept_read(&source->kept, piece, sizeof(piece), &lost);

    if (n < 0)
        return SOURCE_E_BROKEN;
    if (n == 0)
        return SOURCE_E_NOTHING;
    return encode_output(source->stream, piece, (size_t)n, lost, request, outbox);
}

int source_pump(struct source *source, uint64_t request, struct outbox *outbox)
{
    return source->kind == SOURCE_PIPE ? pump_pipe(source, request, outbox)
                                       : pump_kept(source, request, outbox);
}
