#include "denials.h"

#include "caller.h"
#include "clock.h"
#include "filters.h"
#include "flag_words.h"
#include "messages.h"
#include "own.h"
#include "seccomp.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

static const struct filter_call *call_of(int number)
{
    static const struct filter_call others = {.number = -1, .name = "other calls"};

    for (const struct filter_call *call = filter_leg_told; call->name; call++) {
        if (call->number == number)
            return call;
    }
    return &others;
}

/* What of the arguments says what was wanted; pointers are left out, they say nothing. */
static uint64_t flags_of(const struct seccomp_call *call)
{
    switch (call->number) {
    case SYS_unshare:
    case SYS_clone:
    case SYS_prctl:
    case SYS_socket:
    case SYS_socketpair:
        return call->arguments[0];
    case SYS_ioctl:
        return (uint32_t)call->arguments[1];
    case SYS_setns:
    case SYS_umount2:
    case SYS_seccomp:
    case SYS_fsopen:
    case SYS_fsconfig:
    case SYS_fsmount:
    case SYS_landlock_restrict_self:
        return call->arguments[1];
    case SYS_open_tree:
    case CALL_OPEN_TREE_ATTR:
    case SYS_fspick:
    case SYS_mount_setattr:
    case SYS_landlock_create_ruleset:
        return call->arguments[2];
    case SYS_mount:
    case SYS_landlock_add_rule:
        return call->arguments[3];
    case SYS_move_mount:
        return call->arguments[4];
    default:
        return 0;
    }
}

static void describe(struct denial *denial, const struct seccomp_call *call)
{
    char words[256], chain[CALLER_CHAIN_MAX];

    denial->pid = call->pid;
    caller_comm(call->pid, denial->comm, sizeof(denial->comm));
    caller_exe(call->pid, denial->exe, sizeof(denial->exe));
    caller_chain(call->pid, chain);
    flag_words(denial->number, denial->flags, words, sizeof(words));
    (void)snprintf(denial->who, sizeof(denial->who),
        "%s=0x%" PRIx64 "%s%s comm=%s exe=%s pid=%d chain=%s",
        denial->nests ? "flags" : "seccomp argument", denial->flags, words[0] ? "=" : "", words,
        denial->comm, denial->exe, call->pid, chain);
}

static struct denial *place_of(struct denials *denials, const struct seccomp_call *call)
{
    uint64_t flags = flags_of(call);
    struct denial *denial;

    for (size_t i = 0; i < denials->count; i++) {
        denial = &denials->all[i];
        if (denial->number == call->number && denial->flags == flags)
            return denial;
    }
    denial = &denials->all[denials->count];
    if (denials->count < DENIALS_MAX) {
        *denial = (struct denial){
            .number = call->number, .nests = call_of(call->number)->nests, .flags = flags};
        denials->count++;
        return denial;
    }
    /* Those of one kind never hide those of the other. */
    denial = &denials->others[call_of(call->number)->nests];
    denial->number = -1;
    denial->nests = call_of(call->number)->nests;
    return denial;
}

int denials_answer(struct denials *denials, int listener)
{
    struct seccomp_call call;
    struct denial *denial;
    int r = seccomp_receive(listener, &call);

    if (r < 0)
        return r;
    denial = place_of(denials, &call);
    denial->last_ms = clock_wall_ms();
    if (denial->count++ == 0) {
        denial->first_ms = denial->last_ms;
        describe(denial, &call); /* before the answer: the caller stands still until then */
    }
    return seccomp_refuse(listener, call.id, EPERM);
}

static bool is_new(const struct denial *denial, bool end)
{
    if (denial->count == denial->told)
        return false;
    return end || denial->told == 0 || denial->count / 10 >= denial->told;
}

static int tell(const struct denials *denials, const struct denial *denial, int channel)
{
    struct seam_told told = {.event = {.leg = denials->leg,
                                 .at_ms = denial->last_ms,
                                 .kind = EVENT_DENIED,
                                 .reason = denial->nests ? REASON_NESTED_SANDBOX : REASON_NONE,
                                 .a = (int64_t)denial->count,
                                 .b = denial->first_ms,
                                 .c = denial->last_ms},
        .flags = denial->flags,
        .pid = denial->pid};
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, SEAM_TOLD, 0);
    told.event.subject = seam_put_text(&writer, call_of(denial->number)->name);
    told.event.detail = seam_put_text(&writer, denial->who);
    told.comm = seam_put_text(&writer, denial->comm);
    told.exe = seam_put_text(&writer, denial->exe);
    r = seam_send(channel, &writer, &told, NULL, 0);
    seam_writer_done(&writer);
    return r;
}

static bool tell_new(const struct denials *denials, struct denial *denial, int channel, bool end)
{
    if (!is_new(denial, end))
        return true;
    if (tell(denials, denial, channel) != 0)
        return false;
    denial->told = denial->count;
    return true;
}

bool denials_tell(struct denials *denials, int channel, bool end)
{
    for (size_t i = 0; i < denials->count; i++) {
        if (!tell_new(denials, &denials->all[i], channel, end))
            return true;
    }
    return !tell_new(denials, &denials->others[0], channel, end) ||
           !tell_new(denials, &denials->others[1], channel, end);
}
