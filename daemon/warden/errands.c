#include "errands.h"

#include "undertaker.h"
#include <errno.h>

/* A user whose file systems hold that many of ours gets no more of them. */
#define HANGING_PER_USER 16

struct errand {
    struct warden *warden;
    uint32_t uid; /* as whom it looks */
    struct program_child child;
    struct event *readable, *deadline;
    uint16_t answer_type;
    uint32_t n_left;
    errand_answer *answer;
    errand_done *done;
    void *context;
};

void errand_cancel(struct errand *errand)
{
    if (errand->readable)
        event_free(errand->readable);
    if (errand->deadline)
        event_free(errand->deadline);
    program_end(errand->warden, &errand->child, errand->uid);
    free(errand);
}

static void finish(struct errand *errand, int result)
{
    errand_done *done = errand->done;
    void *context = errand->context;

    errand_cancel(errand);
    done(context, result);
}

static void answered(evutil_socket_t fd, short what, void *context)
{
    struct errand *errand = context;
    struct seam_message message;
    int r;

    r = seam_receive(errand->child.channel, &message);
    if (r == -EAGAIN)
        return;
    if (r != 0) {
        finish(errand, r < 0 ? r : r == SEAM_E_CLOSED ? -EPIPE : -EBADMSG);
        return;
    }
    if (message.header.type != errand->answer_type) {
        seam_message_done(&message);
        finish(errand, -EBADMSG);
        return;
    }
    if (errand->answer(errand->context, &message))
        errand->n_left--;
    seam_message_done(&message);
    if (errand->n_left == 0)
        finish(errand, 0);
}

static void too_late(evutil_socket_t fd, short what, void *context)
{
    finish(context, -ETIMEDOUT);
}

static int watch(struct warden *warden, struct errand *errand, uint64_t timeout_ms)
{
    struct timeval timeout = {
        .tv_sec = (time_t)(timeout_ms / 1000), .tv_usec = (suseconds_t)(timeout_ms % 1000) * 1000};

    errand->readable =
        event_new(warden->loop, errand->child.channel, EV_READ | EV_PERSIST, answered, errand);
    errand->deadline = evtimer_new(warden->loop, too_late, errand);
    if (!errand->readable || !errand->deadline || event_add(errand->readable, NULL) < 0 ||
        event_add(errand->deadline, &timeout) < 0)
        return -ENOMEM;
    return 0;
}

int errand_run(struct warden *warden, const struct errand_question *question, struct errand **ret)
{
    struct program_identity identity;
    const char *const argv[] = {program_name(question->program), identity.uid, identity.gid,
        question->as->n_groups ? identity.groups : NULL, NULL};
    struct errand *errand;
    int r;

    if (undertaker_waits_for(warden, question->as->uid) >= HANGING_PER_USER)
        return -EAGAIN;
    errand = calloc(1, sizeof(*errand));
    if (!errand)
        return -ENOMEM;
    errand->child = (struct program_child){.pidfd = -EBADF, .channel = -EBADF};
    errand->warden = warden;
    errand->uid = question->as->uid;
    errand->answer_type = question->answer_type;
    errand->n_left = question->n_answers;
    errand->answer = question->answer;
    errand->done = question->done;
    errand->context = question->context;
    program_identity(question->as, &identity);
    r = program_start(warden, question->program, argv, -EBADF, &errand->child);
    if (r == 0)
        r = seam_send(errand->child.channel, question->writer, question->fixed,
            question->descriptors, question->n_descriptors);
    if (r == 0)
        r = watch(warden, errand, question->timeout_ms);
    if (r != 0) {
        errand_cancel(errand);
        return r < 0 ? r : -EPIPE;
    }
    *ret = errand;
    return 0;
}
