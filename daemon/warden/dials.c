#include "dials.h"

#include "errands.h"
#include <errno.h>

#define TIMEOUT_MS 5000

struct dial {
    TAILQ_ENTRY(dial) entry;
    struct door *door;
    uint32_t serial;
    struct errand *errand;
    int socket; /* owned */
    int error;
};

static void answer_door(struct door *door, uint32_t serial, int error, int socket)
{
    struct seam_door_socket answer = {.serial = serial, .error = error};

    (void)door_send(
        door, SEAM_DOOR_SOCKET, &answer, error == 0 ? &socket : NULL, error == 0 ? 1 : 0);
}

static bool dialed(void *context, struct seam_message *message)
{
    const struct seam_door_socket *answer = message->fixed;
    struct dial *dial = context;

    dial->error = answer->error;
    if (answer->error == 0 && message->n_descriptors == 1)
        dial->socket = steal_fd(&message->descriptors[0]);
    else if (answer->error == 0)
        dial->error = EBADMSG;
    return true;
}

static void dial_done(void *context, int result)
{
    struct dial *dial = context;

    TAILQ_REMOVE(door_dials(dial->door), dial, entry);
    answer_door(dial->door, dial->serial, result < 0 ? -result : dial->error, dial->socket);
    close_fd(&dial->socket);
    free(dial);
}

static int begin(struct dial *dial, struct leg *leg, const char *path)
{
    struct seam_writer writer;
    struct seam_dial ask;
    int r;

    seam_writer_init(&writer, SEAM_DIAL, 0);
    ask.path = seam_put_text(&writer, path);
    r = errand_run(leg->warden,
        &(struct errand_question){.program = PROGRAM_DIALER,
            .as = &leg->peer,
            .type = SEAM_DIAL,
            .fixed = &ask,
            .writer = &writer,
            .answer_type = SEAM_DIALED,
            .n_answers = 1,
            .timeout_ms = TIMEOUT_MS,
            .answer = dialed,
            .done = dial_done,
            .context = dial},
        &dial->errand);
    seam_writer_done(&writer);
    return r;
}

static size_t count_of(struct dial_list *dials)
{
    struct dial *dial;
    size_t count = 0;

    TAILQ_FOREACH(dial, dials, entry)
    count++;
    return count;
}

void dial(struct door *door, struct leg *leg, const char *path, uint32_t serial)
{
    struct dial_list *dials = door_dials(door);
    struct dial *dial = count_of(dials) < DIALS_AT_ONCE ? calloc(1, sizeof(*dial)) : NULL;
    int r = dial ? 0 : -EAGAIN;

    if (dial) {
        *dial = (struct dial){.door = door, .serial = serial, .socket = -EBADF};
        TAILQ_INSERT_TAIL(dials, dial, entry);
        r = begin(dial, leg, path);
    }
    if (r == 0)
        return;
    if (dial)
        TAILQ_REMOVE(dials, dial, entry);
    free(dial);
    answer_door(door, serial, -r, -EBADF);
}

void dials_cancel(struct dial_list *dials)
{
    struct dial *dial;

    while ((dial = TAILQ_FIRST(dials))) {
        TAILQ_REMOVE(dials, dial, entry);
        errand_cancel(dial->errand);
        close_fd(&dial->socket);
        free(dial);
    }
}
