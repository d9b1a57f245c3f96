#include "intake.h"

#include "own.h"
#include "rights.h"
#include <errno.h>
#include <sys/socket.h>

int intake_init(struct intake *intake)
{
    uint8_t *bytes = malloc(FRAME_HEADER + FRAME_MAX);

    if (!bytes)
        return -ENOMEM;
    *intake = (struct intake){.bytes = bytes, .want = FRAME_HEADER};
    return 0;
}

void intake_done(struct intake *intake)
{
    intake_reset(intake);
    free(intake->bytes);
    intake->bytes = NULL;
}

void intake_reset(struct intake *intake)
{
    for (size_t i = 0; i < intake->n_descriptors; i++)
        close_fd(&intake->descriptors[i]);
    intake->n_descriptors = 0;
    intake->have = 0;
    intake->want = FRAME_HEADER;
}

static int take_control(struct intake *intake, struct msghdr *message)
{
    bool first = intake->have == 0;
    int r = rights_take(
        message, intake->descriptors, array_size(intake->descriptors), &intake->n_descriptors);

    switch (r) {
    case 0:
        return !first && CMSG_FIRSTHDR(message) ? INTAKE_E_MISPLACED : 0;
    case RIGHTS_E_TOO_MANY:
        return INTAKE_E_TOO_MANY;
    case RIGHTS_E_FOREIGN:
        return INTAKE_E_CONTROL;
    default:
        return r;
    }
}

/* One recvmsg(2) of at most what the frame still lacks; descriptors of the next frame stay there,
 * because they stand beside a byte that is not read. */
static int read_some(struct intake *intake, int client)
{
    RIGHTS_SPACE(FRAME_DESCRIPTORS_MAX) control;
    struct iovec part = {intake->bytes + intake->have, intake->want - intake->have};
    struct msghdr message = {.msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof(control.bytes)};
    ssize_t n;
    int r;

    do {
        n = recvmsg(client, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return INTAKE_E_MORE;
    if (n < 0 && errno == ECONNRESET)
        return INTAKE_E_CLOSED;
    if (n < 0)
        return -errno;
    r = take_control(intake, &message);
    if (r == 0 && n == 0)
        r = INTAKE_E_CLOSED;
    intake->have += (size_t)n;
    return r;
}

int intake_read(struct intake *intake, int client)
{
    int r;

    while (intake->have < intake->want) {
        uint32_t length;

        r = read_some(intake, client);
        if (r != 0)
            return r;
        if (intake->want != FRAME_HEADER || intake->have < FRAME_HEADER)
            continue;
        length = frame_get_length(intake->bytes);
        if (length == 0)
            return INTAKE_E_EMPTY;
        if (length > FRAME_MAX)
            return INTAKE_E_TOO_BIG;
        intake->want = FRAME_HEADER + length;
    }
    return 0;
}
