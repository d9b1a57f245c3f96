/* channel.h - messages between our own processes: fixed structs and one bounded string table.
 *
 * A channel is one end of a SOCK_SEQPACKET socket pair: each message is one packet, with its
 * descriptors beside it.  A message is a header, a fixed struct chosen by the header's type, and a
 * string table.  The receiver checks all of it against the table of types (messages.c) before
 * anyone looks: size of the struct, number of descriptors, every text and list within the string
 * table and terminated.  Values (enums, counts, indices) are the caller's to check.
 *
 * The warden reads nothing from a front, stub, checker or opener in any other form.
 */
#pragma once

#include "own.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEAM_MESSAGE_MAX (160U * 1024U) /* whole packet */
#define SEAM_STRINGS_MAX (128U * 1024U) /* argv, environment and paths of one request together */
#define SEAM_DESCRIPTORS_MAX 192        /* unix(7): SCM_MAX_FD is 253 */

/* Errors for the direct caller. */
enum {
    SEAM_E_CLOSED = 1,    /* the other end is gone */
    SEAM_E_MALFORMED = 2, /* the packet breaks the form; the channel is not usable any more */
    SEAM_E_FULL = 3,      /* the string table of the message being written is full */
};

/* A string in the table.  Absent: offset == UINT32_MAX. */
struct seam_text {
    uint32_t offset;
    uint32_t length; /* without the NUL that stands behind it */
};

/* COUNT strings back to back in the table, each with its NUL, BYTES in all. */
struct seam_list {
    uint32_t offset;
    uint32_t count;
    uint32_t bytes;
};

#define SEAM_TEXT_ABSENT ((struct seam_text){UINT32_MAX, 0})

struct seam_header {
    uint32_t magic;
    uint16_t type;          /* enum seam_type of messages.h */
    uint16_t n_descriptors; /* how many must have come with it */
    uint32_t fixed_size;
    uint32_t strings_size;
    uint64_t request; /* chosen by the asker, carried back by each answer */
};

/* -- writing -- */
struct seam_writer {
    struct seam_header header;
    char *strings; /* grows to SEAM_STRINGS_MAX */
    size_t capacity;
    int error; /* first failure of a put; seam_send() returns it */
};

void seam_writer_init(struct seam_writer *writer, uint16_t type, uint64_t request);
void seam_writer_done(struct seam_writer *writer);
/* TEXT may be NULL: absent.  A failure is kept in the writer: callers need not check each put. */
struct seam_text seam_put_text(struct seam_writer *writer, const char *text);
struct seam_list seam_put_list(
    struct seam_writer *writer, const char *const *strings, size_t count);

/* Sends the message with its FIXED struct (size from the table of types) and descriptors (not
 * consumed).  Never blocks: -EAGAIN when the socket is full.  SEAM_E_CLOSED, SEAM_E_FULL, -errno.
 */
int seam_send(int channel, struct seam_writer *writer, const void *fixed, const int *descriptors,
    size_t n_descriptors);

/* -- reading -- */
struct seam_message {
    struct seam_header header;
    const void *fixed; /* aligned; valid until seam_message_done() */
    const char *strings;
    int descriptors[SEAM_DESCRIPTORS_MAX]; /* owned; take one with steal_fd() */
    size_t n_descriptors;
    char *buffer;
};

/* Receives one message.  -EAGAIN when none waits (non-blocking channel), SEAM_E_CLOSED,
 * SEAM_E_MALFORMED, -errno.  On any failure *RET owns nothing.  -EMFILE: a good message whose
 * descriptors this process has no room for; it is lost, and RET->header is its header. */
int seam_receive(int channel, struct seam_message *ret);
void seam_message_done(struct seam_message *message);
/* Closes the descriptors that were not taken; the rest of the message stays. */
void seam_message_close(struct seam_message *message);

/* What seam_receive() holds a packet to: form, sizes, texts and lists, number of descriptors.
 * 0 or SEAM_E_MALFORMED.  PACKET must be 8-byte aligned. */
int seam_check(const void *packet, size_t size, size_t n_descriptors);

/* NULL when absent. */
const char *seam_text(const struct seam_message *message, struct seam_text text);
/* The first string of the list, then seam_list_next() COUNT - 1 times. */
const char *seam_list_first(const struct seam_message *message, struct seam_list list);
const char *seam_list_next(const char *string);

/* Makes a connected pair, close-on-exec, with room for one largest message. */
int seam_channel_pair(int ret_channels[2]);
