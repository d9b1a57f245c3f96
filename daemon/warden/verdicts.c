#include "verdicts.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* The artefact that the INDEX-th reason speaks of: reasons of one kind come in the artefacts'
 * order. */
static int artefact_of(const struct leg *leg, const struct verdict *verdict, uint32_t index)
{
    uint32_t before = 0;

    for (uint32_t i = 0; i < index; i++)
        before += verdict->reasons[i] == verdict->reasons[index];
    for (uint32_t i = 0; i < leg->ending.n_artefacts; i++) {
        if (leg->ending.artefacts[i] == verdict->reasons[index] && before-- == 0)
            return (int)i;
    }
    return -1;
}

const char *verdict_detail(
    const struct leg *leg, const struct verdict *verdict, uint32_t index, char *buffer, size_t size)
{
    const struct ending *ending = &leg->ending;
    enum reason reason = verdict->reasons[index];
    int artefact = artefact_of(leg, verdict, index);

    buffer[0] = '\0';
    if (artefact >= 0)
        (void)snprintf(buffer, size, "%s/%s",
            leg->grant_paths[leg->decision.artefacts[artefact].grant],
            leg->decision.artefacts[artefact].path);
    else if (reason == REASON_EXIT_STATUS && ending->exited)
        (void)snprintf(buffer, size, "status %d", WEXITSTATUS(ending->wait_status));
    else if (reason == REASON_KILLED_BY_SIGNAL && ending->exited)
        (void)snprintf(buffer, size, "signal %d (SIG%s)%s", WTERMSIG(ending->wait_status),
            sigabbrev_np(WTERMSIG(ending->wait_status)) ?: "?",
            WCOREDUMP(ending->wait_status) ? ", core dumped" : "");
    else if (reason == REASON_WALL_TIME)
        (void)snprintf(
            buffer, size, "after %llu ms", (unsigned long long)leg->decision.limits.wall_ms);
    else if (reason == REASON_VENDOR_BUDGET)
        (void)snprintf(buffer, size, "%s", leg->vendor.budget);
    else if (reason == REASON_NESTED_SANDBOX)
        (void)snprintf(buffer, size, "%s", leg->vendor.first_nested);
    else if (reason == REASON_OUT_OF_MEMORY)
        (void)snprintf(buffer, size, "memory=%llu, %llu kills",
            (unsigned long long)leg->decision.limits.memory, (unsigned long long)ending->oom_kills);
    else if (reason == REASON_TASKS_LIMIT)
        (void)snprintf(buffer, size, "tasks=%llu, refused %llu times",
            (unsigned long long)leg->decision.limits.tasks, (unsigned long long)ending->tasks_hits);
    return buffer;
}

static void fill_reasons(const struct leg *leg, const struct verdict *verdict,
    struct seam_writer *writer, struct seam_verdict *out)
{
    char detail[REFUSAL_DETAIL_MAX + 4096];

    out->n_reasons = verdict->n_reasons;
    for (uint32_t i = 0; i < verdict->n_reasons; i++) {
        out->reasons[i].reason = verdict->reasons[i];
        out->reasons[i].detail =
            seam_put_text(writer, verdict_detail(leg, verdict, i, detail, sizeof(detail)));
    }
}

const char *verdict_kept(const struct leg *leg, char *buffer, size_t size)
{
    uint64_t cap = leg->decision.limits.output, lost = leg->kept_lost[0] + leg->kept_lost[1];
    int at;

    if (!leg->keeps_output)
        return NULL;
    at = snprintf(buffer, size, "stdout %llu bytes, stderr %llu bytes%s",
        (unsigned long long)leg->kept[0], (unsigned long long)leg->kept[1],
        cap && (leg->kept[0] > cap / 2 || leg->kept[1] > cap / 2)
            ? "; the middle was cut to stay within output="
            : "");
    if (lost > 0 && at > 0 && (size_t)at < size)
        (void)snprintf(buffer + at, size - (size_t)at,
            "; %llu bytes after them could not be written", (unsigned long long)lost);
    return buffer;
}

void verdict_fill(const struct leg *leg, const struct verdict *verdict, struct seam_writer *writer,
    struct seam_verdict *out)
{
    char kept[VERDICT_KEPT_MAX];

    memset(out, 0, sizeof(*out));
    out->leg = leg->id;
    out->colour = verdict->colour;
    out->client_status = verdict->client_status;
    out->wait_status = leg->ending.exited ? leg->ending.wait_status : -1;
    out->wall_us = (int64_t)(leg->gone_us - leg->asked_us);
    out->egress_cut = leg->decision.net == NET_NONE;
    fill_reasons(leg, verdict, writer, out);
    out->n_claims = leg->decision.n_claims;
    for (uint32_t i = 0; i < leg->decision.n_claims; i++) {
        out->claims[i].claim = leg->decision.claims[i].claim;
        out->claims[i].rungs = leg->decision.claims[i].rungs;
    }
    out->kept = seam_put_text(writer, verdict_kept(leg, kept, sizeof(kept)));
}
