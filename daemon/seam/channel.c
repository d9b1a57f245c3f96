#include "channel.h"

#include "messages.h"
#include "rights.h"
#include "types.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define SEAM_MAGIC 0x73616d31U /* "sam1" */

/* ---- writing ---- */

void seam_writer_init(struct seam_writer *writer, uint16_t type, uint64_t request)
{
    memset(writer, 0, sizeof(*writer));
    writer->header.magic = SEAM_MAGIC;
    writer->header.type = type;
    writer->header.request = request;
}

void seam_writer_done(struct seam_writer *writer)
{
    free(writer->strings);
    writer->strings = NULL;
    writer->capacity = 0;
}

/* Makes room for SIZE more bytes and returns where they go, or NULL with writer->error set. */
static char *reserve(struct seam_writer *writer, size_t size)
{
    size_t used = writer->header.strings_size;

    if (writer->error)
        return NULL;
    if (size > SEAM_STRINGS_MAX - used) {
        writer->error = SEAM_E_FULL;
        return NULL;
    }
    if (used + size > writer->capacity) {
        size_t capacity = writer->capacity ? writer->capacity : 1024;
        char *grown;

        while (capacity < used + size)
            capacity *= 2;
        grown = realloc(writer->strings, capacity);
        if (!grown) {
            writer->error = -ENOMEM;
            return NULL;
        }
        writer->strings = grown;
        writer->capacity = capacity;
    }
    writer->header.strings_size += (uint32_t)size;
    return writer->strings + used;
}

struct seam_text seam_put_text(struct seam_writer *writer, const char *text)
{
    struct seam_text put = {writer->header.strings_size, 0};
    size_t length;
    char *at;

    if (!text)
        return SEAM_TEXT_ABSENT;
    length = strlen(text);
    at = reserve(writer, length + 1);
    if (!at)
        return SEAM_TEXT_ABSENT;
    memcpy(at, text, length + 1);
    put.length = (uint32_t)length;
    return put;
}

struct seam_list seam_put_list(struct seam_writer *writer, const char *const *strings, size_t count)
{
    struct seam_list put = {writer->header.strings_size, (uint32_t)count, 0};

    for (size_t i = 0; i < count; i++)
        (void)seam_put_text(writer, strings[i]);
    put.bytes = writer->header.strings_size - put.offset;
    return put;
}

static int send_packet(int channel, struct msghdr *message)
{
    for (;;) {
        ssize_t n = sendmsg(channel, message, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n >= 0)
            return 0;
        if (errno == EINTR)
            continue;
        if (errno == EPIPE || errno == ECONNRESET)
            return SEAM_E_CLOSED;
        return -errno;
    }
}

int seam_send(int channel, struct seam_writer *writer, const void *fixed, const int *descriptors,
    size_t n_descriptors)
{
    RIGHTS_SPACE(SEAM_DESCRIPTORS_MAX) control;
    const struct seam_type_form *form = seam_type_form(writer->header.type);
    struct iovec parts[3];
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};

    if (writer->error)
        return writer->error;
    if (!form || n_descriptors > form->max_descriptors)
        return -EINVAL;
    writer->header.fixed_size = form->fixed_size;
    writer->header.n_descriptors = (uint16_t)n_descriptors;
    parts[0] = (struct iovec){&writer->header, sizeof(writer->header)};
    parts[1] = (struct iovec){(void *)(uintptr_t)fixed, form->fixed_size};
    parts[2] = (struct iovec){writer->strings, writer->header.strings_size};
    rights_put(&message, &control, descriptors, n_descriptors);
    return send_packet(channel, &message);
}

/* ---- reading ---- */

static bool text_fits(const char *strings, size_t size, const struct seam_text *text)
{
    if (text->offset == UINT32_MAX || (text->offset == 0 && text->length == 0))
        return text->length == 0; /* absent, or a slot of an array that is not used */
    return text->offset < size && text->length < size - text->offset &&
           strings[text->offset + text->length] == '\0' &&
           !memchr(strings + text->offset, '\0', text->length);
}

static bool list_fits(const char *strings, size_t size, const struct seam_list *list)
{
    uint32_t ends = 0;

    if (list->count == 0)
        return list->bytes == 0;
    if (list->offset >= size || list->bytes == 0 || list->bytes > size - list->offset ||
        strings[list->offset + list->bytes - 1] != '\0')
        return false;
    for (uint32_t i = 0; i < list->bytes; i++)
        ends += strings[list->offset + i] == '\0';
    return ends == list->count;
}

static bool strings_fit(
    const struct seam_type_form *form, const char *fixed, const char *strings, size_t size)
{
    for (const struct seam_type_field *field = form->fields; field && field->count; field++) {
        for (size_t i = 0; i < field->count; i++) {
            const void *at = fixed + field->offset + i * field->stride;

            if (field->is_list ? !list_fits(strings, size, at) : !text_fits(strings, size, at))
                return false;
        }
    }
    return true;
}

int seam_check(const void *packet, size_t size, size_t n_descriptors)
{
    const struct seam_header *header = packet;
    const struct seam_type_form *form;
    const char *fixed, *strings;

    if (size < sizeof(*header) || header->magic != SEAM_MAGIC ||
        header->n_descriptors != n_descriptors)
        return SEAM_E_MALFORMED;
    form = seam_type_form(header->type);
    if (!form || header->fixed_size != form->fixed_size ||
        header->strings_size > SEAM_STRINGS_MAX || n_descriptors > form->max_descriptors ||
        size != sizeof(*header) + header->fixed_size + header->strings_size)
        return SEAM_E_MALFORMED;
    fixed = (const char *)packet + sizeof(*header);
    strings = fixed + header->fixed_size;
    return strings_fit(form, fixed, strings, header->strings_size) ? 0 : SEAM_E_MALFORMED;
}

/* The size of the packet that waits, without taking it. */
static int peek_size(int channel, size_t *ret_size)
{
    char nothing;
    ssize_t n;

    do {
        n = recv(channel, &nothing, sizeof(nothing), MSG_PEEK | MSG_TRUNC);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == ECONNRESET ? SEAM_E_CLOSED : -errno;
    if (n == 0)
        return SEAM_E_CLOSED;
    *ret_size = (size_t)n;
    return 0;
}

static int receive_packet(int channel, struct seam_message *in, size_t size)
{
    RIGHTS_SPACE(SEAM_DESCRIPTORS_MAX) control;
    struct iovec part = {in->buffer, size};
    struct msghdr message = {.msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof(control.bytes)};
    ssize_t n;
    int r;

    do {
        n = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    r = rights_take(&message, in->descriptors, SEAM_DESCRIPTORS_MAX, &in->n_descriptors);
    if ((r != 0 && r != -EMFILE) || message.msg_flags & MSG_TRUNC || (size_t)n < sizeof(in->header))
        return SEAM_E_MALFORMED;
    memcpy(&in->header, in->buffer, sizeof(in->header));
    if (seam_check(in->buffer, (size_t)n, r == 0 ? in->n_descriptors : in->header.n_descriptors))
        return SEAM_E_MALFORMED;
    return r;
}

int seam_receive(int channel, struct seam_message *ret)
{
    struct seam_message in = {0};
    size_t size = 0;
    int r;

    r = peek_size(channel, &size);
    if (r != 0)
        return r;
    if (size > SEAM_MESSAGE_MAX)
        return SEAM_E_MALFORMED;
    in.buffer = malloc(size);
    if (!in.buffer)
        return -ENOMEM;
    r = receive_packet(channel, &in, size);
    if (r != 0) {
        ret->header = in.header;
        seam_message_done(&in);
        return r;
    }
    in.fixed = in.buffer + sizeof(in.header);
    in.strings = in.buffer + sizeof(in.header) + in.header.fixed_size;
    *ret = in;
    return 0;
}

void seam_message_close(struct seam_message *message)
{
    for (size_t i = 0; i < message->n_descriptors; i++)
        close_fd(&message->descriptors[i]);
    message->n_descriptors = 0;
}

void seam_message_done(struct seam_message *message)
{
    seam_message_close(message);
    free(message->buffer);
    message->buffer = NULL;
}

const char *seam_text(const struct seam_message *message, struct seam_text text)
{
    if (text.offset == UINT32_MAX)
        return NULL;
    return text.length == 0 ? "" : message->strings + text.offset;
}

const char *seam_list_first(const struct seam_message *message, struct seam_list list)
{
    return list.count ? message->strings + list.offset : NULL;
}

const char *seam_list_next(const char *string)
{
    return string + strlen(string) + 1;
}

int seam_channel_pair(int ret_channels[2])
{
    int pair[2];
    int room = SEAM_MESSAGE_MAX * 2;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    for (int i = 0; i < 2; i++) {
        if (setsockopt(pair[i], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)) < 0) {
            int error = errno;

            close(pair[0]);
            close(pair[1]);
            return -error;
        }
    }
    memcpy(ret_channels, pair, sizeof(pair));
    return 0;
}
