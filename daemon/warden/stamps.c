/* stamps.c - the state of each artefact before and after the leg, and what that says.
 *
 * The checker looks, as the requester, through the granted descriptors; the warden opens and hashes
 * nothing of a leg's. */
#include "leg.h"

#include <errno.h>
#include <string.h>

#define STAMP_TIMEOUT_MS 2000
#define HASH_TIMEOUT_MS 30000

static bool took_stamp(void *context, struct seam_message *answer)
{
    struct leg *leg = context;
    const struct seam_checked *checked = answer->fixed;
    struct artefact_stamp *stamps = leg->gone_us ? leg->after : leg->before;

    if (checked->artefact < leg->decision.n_artefacts)
        stamps[checked->artefact] = checked->stamp;
    return true;
}

int leg_stamp(struct leg *leg, bool hash, errand_done *done)
{
    auto_free struct seam_check *check = calloc(1, sizeof(*check));
    struct seam_writer writer;
    int r;

    if (!check)
        return -ENOMEM;
    seam_writer_init(&writer, SEAM_CHECK, 0);
    check->n_artefacts = leg->decision.n_artefacts;
    for (uint32_t i = 0; i < leg->decision.n_artefacts; i++) {
        if (leg->gone_us) /* until the checker has said otherwise, nothing is known of it */
            leg->after[i] = (struct artefact_stamp){.error = ENODATA};
        check->artefacts[i].descriptor = leg->decision.artefacts[i].grant;
        check->artefacts[i].hash = !hash                                   ? CHECK_HASH_NONE
                                   : leg->decision.artefacts[i].has_sha256 ? CHECK_HASH_WANTED
                                                                           : CHECK_HASH_OFFERED;
        check->artefacts[i].path = seam_put_text(&writer, leg->decision.artefacts[i].path);
    }
    r = errand_run(leg->warden,
        &(struct errand_question){.program = PROGRAM_CHECKER,
            .as = &leg->peer,
            .type = SEAM_CHECK,
            .fixed = check,
            .writer = &writer,
            .descriptors = leg->grant_fds,
            .n_descriptors = leg->request.n_grants,
            .answer_type = SEAM_CHECKED,
            .n_answers = leg->decision.n_artefacts,
            .timeout_ms = hash ? HASH_TIMEOUT_MS : STAMP_TIMEOUT_MS,
            .answer = took_stamp,
            .done = done,
            .context = leg},
        &leg->errand);
    seam_writer_done(&writer);
    return r;
}

static bool untouched(const struct artefact_stamp *before, const struct artefact_stamp *after)
{
    return before->error == 0 && before->dev == after->dev && before->ino == after->ino &&
           before->size == after->size && before->mtime_ns == after->mtime_ns &&
           before->ctime_ns == after->ctime_ns;
}

static enum reason judge(const struct artefact *asked, const struct artefact_stamp *before,
    const struct artefact_stamp *after)
{
    /* openat2 beneath the grant without following: ELOOP is a symlink in its place. */
    if (after->error == ELOOP)
        return REASON_ARTEFACT_NOT_REGULAR;
    if (after->error == ENOENT || after->error == ENOTDIR)
        return REASON_ARTEFACT_ABSENT;
    /* The checker is the requester: what it may not reach, the leg took away. */
    if (after->error == EACCES || after->error == EPERM)
        return REASON_ARTEFACT_UNREADABLE;
    if (after->error)
        return REASON_CHECKER_FAILED;
    if (!after->regular)
        return REASON_ARTEFACT_NOT_REGULAR;
    if (untouched(before, after))
        return REASON_ARTEFACT_UNCHANGED;
    if (after->size < asked->min_size)
        return REASON_ARTEFACT_TOO_SMALL;
    if (asked->has_sha256 &&
        (!after->hashed || memcmp(after->sha256, asked->sha256, sizeof(asked->sha256)) != 0))
        return REASON_ARTEFACT_WRONG_HASH;
    return REASON_NONE;
}

void leg_judge(struct leg *leg)
{
    struct ending *ending = &leg->ending;

    ending->n_artefacts = leg->decision.n_artefacts;
    for (uint32_t i = 0; i < ending->n_artefacts; i++) {
        ending->artefacts[i] = judge(&leg->decision.artefacts[i], &leg->before[i], &leg->after[i]);
        if (ending->artefacts[i] == REASON_CHECKER_FAILED)
            ending->checker_failed = true;
    }
}
