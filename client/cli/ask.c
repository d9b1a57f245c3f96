#include "ask.h"

#include "say.h"
#include <errno.h>
#include <stdio.h>

struct saphan *ask_connect(void)
{
    struct saphan *saphan = NULL;
    struct saphan_error error;

    if (saphan_connect(NULL, &saphan, &error) != 0)
        (void)say("%s", error.message);
    return saphan;
}

static int refused(const struct saphan_event *event)
{
    for (size_t i = 0; i < event->refused.n_reasons; i++) {
        const struct saphan_reason *reason = &event->refused.reasons[i];

        (void)say("%s: %s%s%s; %s", escaped(reason->slug), escaped(reason->detail),
            reason->detail[0] ? ": " : "", escaped(reason->meaning), escaped(reason->remedy));
    }
    if (event->refused.n_reasons == 0)
        (void)say("refused without a reason");
    return EXIT_OURS;
}

int ask_all(struct saphan *saphan, int (*take)(void *context, const struct saphan_event *event),
    void *context)
{
    struct saphan_event event;
    struct saphan_error error;
    int r;

    for (;;) {
        r = saphan_next(saphan, -1, NULL, &event, &error);
        if (r == -EINTR)
            continue;
        if (r != 0)
            return say("%s", error.message);
        if (event.kind == SAPHAN_EVENT_REFUSED)
            return refused(&event);
        if (event.kind == SAPHAN_EVENT_END)
            return 0;
        r = take ? take(context, &event) : 0;
        if (r != 0)
            return r;
    }
}

int ask_to_the_end(struct saphan *saphan, int asked, const struct saphan_error *error,
    int (*take)(void *context, const struct saphan_event *event), void *context)
{
    int status = asked != 0 ? say("%s", error->message) : ask_all(saphan, take, context);

    saphan_close(saphan);
    if (fflush(stdout) != 0 && status == 0)
        return say("standard output could not be written");
    return status;
}
