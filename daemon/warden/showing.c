#include "showing.h"

#include "answers.h"
#include "images.h"
#include "journal.h"
#include "ledger.h"
#include "log.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ROWS 64 /* of one look into the ledger */
#define LOOKS 8 /* then others have their turn */

enum { GONE, MORE, DONE };

struct telling {
    struct front *front; /* NULL once it is gone */
    bool full;           /* it has room for no more now */
    uint64_t request;
};

static bool pass_on(void *context, uint16_t type, struct seam_writer *writer, const void *fixed)
{
    struct telling *telling = context;

    writer->header.request = telling->request;
    if (!front_send(telling->front, writer, fixed, NULL, 0))
        telling->front = NULL;
    else if (!backlog_is_empty(&telling->front->backlog))
        telling->full = true;
    return telling->front && !telling->full;
}

/* The reply's end.  False: the front is gone. */
static bool finish(struct front *front, const struct showing *showing, int result)
{
    static const char what[] = "the list could not be read";

    if (result >= 0)
        return front_end_reply(front, showing->request, 0);
    log_error("%s: %s", what, strerror(-result));
    return front_refuse(front, showing->request, REASON_LEDGER_FAILED, what);
}

static int tell_images(struct front *front, struct showing *showing)
{
    for (size_t i = 0; i < ROWS && backlog_is_empty(&front->backlog); i++) {
        int r = images_tell_next(front, showing->request, showing->image);

        if (r == -EPIPE)
            return GONE;
        if (r < 0)
            return finish(front, showing, r == -ENOENT ? 0 : r) ? DONE : GONE;
    }
    return MORE;
}

/* One look: GONE, MORE, or DONE, of which the front was told. */
static int tell_some(struct front *front, struct showing *showing)
{
    struct telling telling = {.front = front, .request = showing->request};
    struct ledger *ledger = front->warden->ledger;
    int r;

    if (showing->leg == 0)
        r = ledger_legs(
            ledger, showing->owner, showing->all, ROWS, &showing->after, pass_on, &telling);
    else
        r = ledger_events(ledger, showing->leg, ROWS, &showing->after, pass_on, &telling);
    if (telling.front && (r == ROWS || telling.full))
        return MORE;
    if (telling.front && r >= 0 && showing->leg != 0)
        r = ledger_verdict(ledger, showing->leg, pass_on, &telling);
    if (!telling.front)
        return GONE;
    return finish(front, showing, r < 0 ? r : 0) ? DONE : GONE;
}

void showings_go_on(struct front *front)
{
    struct showings *showings = &front->showings;

    for (size_t look = 0; showings->count > 0 && backlog_is_empty(&front->backlog); look++) {
        struct showing *first = &showings->under_way[0];
        int r = look == LOOKS   ? MORE
                : first->images ? tell_images(front, first)
                                : tell_some(front, first);

        if (r == GONE)
            return;
        if (r == DONE)
            memmove(showings->under_way, showings->under_way + 1,
                --showings->count * sizeof(showings->under_way[0]));
        if (look == LOOKS) {
            if (event_add(front->writable, NULL) < 0)
                front_drop(front);
            return;
        }
    }
}

/* Behind those that are under way. */
static void begin(struct front *front, const struct showing *showing)
{
    struct showings *showings = &front->showings;

    if (showings->count == SHOWINGS_MAX) {
        (void)front_refuse(front, showing->request, REASON_OUT_OF_RESOURCES,
            "step admit: this connection has as many lists under way as it may");
        return;
    }
    showings->under_way[showings->count++] = *showing;
    showings_go_on(front);
}

void showings_images(struct front *front, uint64_t request)
{
    begin(front, &(struct showing){.request = request, .images = true});
}

void answer_legs(struct front *front, struct seam_message *message)
{
    const struct seam_ask_legs *ask = message->fixed;
    bool all_users = may_see(&front->peer, UINT32_MAX, &front->warden->policy);
    struct showing showing = {.request = message->header.request,
        .owner = all_users ? UINT32_MAX : front->peer.uid,
        .all = ask->all != 0};
    int r = ledger_legs_begin(front->warden->ledger, showing.owner, showing.all, &showing.after);

    seam_message_done(message);
    if (r < 0)
        (void)finish(front, &showing, r);
    else
        begin(front, &showing);
}

void answer_show(struct front *front, struct seam_message *message)
{
    const struct seam_ask_leg *ask = message->fixed;
    struct showing showing = {
        .request = message->header.request, .leg = answer_visible_leg(front, message, ask->leg)};
    struct telling telling = {.front = front, .request = showing.request};
    int r;

    seam_message_done(message);
    if (showing.leg == 0)
        return;
    r = ledger_leg(front->warden->ledger, showing.leg, pass_on, &telling);
    if (!telling.front)
        return;
    if (r < 0)
        (void)finish(front, &showing, r);
    else
        begin(front, &showing);
}
