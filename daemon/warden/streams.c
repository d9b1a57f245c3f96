/* streams.c - the three standard streams of a leg: judged, made, handed on. */
#include "leg.h"

#include "descriptor.h"
#include "kept.h"
#include "kept_files.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define KEPT_DEFAULT (8ULL << 20)

/* A stream must not be a way out: no terminal (typing into it, reading its keys), no network
 * socket, no directory; a datagram socket could be sent anywhere. */
static bool may_pass(int fd)
{
    struct statx st;
    int domain = 0, type = 0, listening = 0;
    socklen_t size = sizeof(int);

    if (fcntl(fd, F_GETFL) < 0 || fcntl(fd, F_GETFL) & O_PATH ||
        statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) < 0)
        return false;
    if (S_ISFIFO(st.stx_mode) || S_ISREG(st.stx_mode))
        return true;
    if (S_ISCHR(st.stx_mode))
        return st.stx_rdev_major == 1 && st.stx_rdev_minor == 3; /* /dev/null */
    if (!S_ISSOCK(st.stx_mode))
        return false;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0 || domain != AF_UNIX)
        return false;
    size = sizeof(int);
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_STREAM)
        return false;
    size = sizeof(int);
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 && !listening;
}

static int pass_descriptor(struct leg *leg, size_t stream)
{
    int32_t index = leg->run->streams[stream].descriptor;

    if (index < 0 || (size_t)index >= leg->ask.n_descriptors || leg->ask.descriptors[index] < 0)
        return -EBADMSG;
    if (!may_pass(leg->ask.descriptors[index]))
        return -EINVAL;
    /* The same descriptor may stand for two streams: each gets a copy. */
    leg->stream_fds[stream] = fcntl(leg->ask.descriptors[index], F_DUPFD_CLOEXEC, 10);
    return leg->stream_fds[stream] < 0 ? -errno : 0;
}

static int make_pipe(struct leg *leg, size_t stream)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    leg->stream_reads[stream] = ends[0];
    leg->stream_fds[stream] = ends[1];
    return descriptor_let_reopen(ends[1], true);
}

static int make_kept(struct leg *leg, size_t stream)
{
    uint64_t cap = leg->decision.limits.output ? leg->decision.limits.output : KEPT_DEFAULT;
    struct kept_writer writer;
    int r;

    r = kept_file_make(leg->warden, leg->id, stream, &leg->stream_fds[stream]);
    if (r < 0)
        return r;
    leg->keeps_output = true;
    /* The bound is for both streams together. */
    return kept_start(&writer, leg->stream_fds[stream], cap / 2);
}

static int open_stream(struct leg *leg, size_t stream)
{
    switch (leg->run->streams[stream].mode) {
    case STREAM_NULL:
        return 0;
    case STREAM_DESCRIPTOR:
        return pass_descriptor(leg, stream);
    case STREAM_EVENTS:
        return stream == 0 ? -EBADMSG : make_pipe(leg, stream);
    case STREAM_KEEP:
        return stream == 0 ? -EBADMSG : make_kept(leg, stream);
    default:
        return -EBADMSG;
    }
}

int leg_open_streams(struct leg *leg, enum reason *ret_reason, char detail[REFUSAL_DETAIL_MAX])
{
    static const char *const names[] = {"standard input", "standard output", "standard error"};

    for (size_t i = 0; i < 3; i++) {
        int r = open_stream(leg, i);

        if (r == 0)
            continue;
        *ret_reason = r == -EINVAL    ? REASON_STDIO_TYPE
                      : r == -EBADMSG ? REASON_REQUEST_MALFORMED
                                      : REASON_OUT_OF_RESOURCES;
        (void)snprintf(detail, REFUSAL_DETAIL_MAX, "%s: %s", names[i], fault_errno_name(-r));
        return r;
    }
    /* The streams are the last to be taken.  A copy kept here would hold a pipe open that the leg
     * has closed: its other end would wait for the leg's end. */
    seam_message_close(&leg->ask);
    return 0;
}
