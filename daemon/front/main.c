/* saphan-front - speaks to one client, and is nobody.
 *
 * Usage: saphan-front, descriptor 3 = the zygote's seam channel, descriptor 4 = an empty directory.
 * One process, the zygote, reads orders of the warden's alone and bears a front for each: zygote.h.
 *
 * What it should do: wait for SEAM_SERVE with one accepted connection; turn the client's frames
 * into seam messages, every field's form checked, and the warden's answers into frames; carry a
 * leg's output to a client that asked for it as events.  It ends with its connection.
 *
 * What it must not: decide anything.  Who asks is known to the warden by the channel, not by a
 * field of ours; descriptors pass through untouched.  It opens nothing, starts nothing, and lets no
 * client make it use more memory or time than session.h and outbox.h say.
 *
 * What an attacker who owns it gains: he is the peer of this one connection, who could have sent
 * the same messages in the first place.  He sees an empty root, owns no capability, can make no
 * socket, no file and no process, and reaches nobody but his own client and the warden, which takes
 * only the fixed forms of messages.h.  He can lie to his own client.  The zygote, whom no byte of a
 * client's reaches, could become any user, in an empty root and without another capability.
 */
#include "enclosure.h"
#include "filters.h"
#include "isolation.h"
#include "log.h"
#include "messages.h"
#include "own.h"
#include "session.h"
#include "steps.h"
#include "zygote.h"
#include <signal.h>
#include <sys/prctl.h>

#define CHANNEL 3
#define ROOT 4

/* Waits for the connection.  SEAM_E_CLOSED: none will come. */
static int await_client(int *ret_client)
{
    struct seam_message message;
    int r;

    r = seam_receive(CHANNEL, &message);
    if (r != 0)
        return r;
    if (message.header.type == SEAM_SERVE && message.n_descriptors == 1)
        *ret_client = steal_fd(&message.descriptors[0]);
    else
        r = SEAM_E_MALFORMED;
    seam_message_done(&message);
    return r;
}

static int serve(void)
{
    int client, r;

    r = await_client(&client);
    if (r == SEAM_E_CLOSED)
        return 0;
    if (r != 0) {
        log_error("the channel: %s", r < 0 ? fault_errno_name(-r) : "a message of another form");
        return 1;
    }
    return session_run_take(CHANNEL, client, &session_bounds_standard) < 0;
}

static int fail(const struct fault *fault)
{
    log_error(
        "step %s: %s: %s", step_slug(fault->step), fault->subject, fault_errno_name(fault->error));
    return 1;
}

int main(int argc, char **argv)
{
    struct fault fault = {0};
    uint64_t uid;

    log_open("saphan-front", LOG_LEVEL_INFO);
    if (argc != 1) {
        log_error("%s takes no argument: saphand starts it", argv[0]);
        return 2;
    }
    (void)prctl(PR_SET_NAME, "saphan-front", 0, 0, 0); /* it was executed by a descriptor's name */
    (void)signal(SIGPIPE, SIG_IGN); /* standard error may be a pipe that nobody reads */
    if (isolation_prepare(ROOT, &fault) < 0)
        return fail(&fault);
    if (zygote_run(CHANNEL, &uid) < 0 || uid == 0 || uid >= UINT32_MAX)
        return 1;
    /* From here on a front: a copy of the zygote, whose descriptors it no longer has. */
    if (enclosure_become((uint32_t)uid, &filter_front, &fault) < 0)
        return fail(&fault);
    _exit(serve()); /* nothing is to be flushed, and a leak checker would want what was given up */
}
