#include "journal.h"

#include "text.h"
#include <systemd/sd-journal.h>

void journal_leg_ended(const struct leg *leg, const struct verdict *verdict)
{
    const char *first = verdict->n_reasons ? reason_entry(verdict->reasons[0])->slug : "none";

    /* Only where a journal reads us: elsewhere the ledger alone has it. */
    if (!getenv("JOURNAL_STREAM"))
        return;
    (void)sd_journal_send("MESSAGE=leg %llu of uid %u: %s (%s)", (unsigned long long)leg->id,
        leg->peer.uid, colour_name(verdict->colour), first, "PRIORITY=6", "SAPHAN_LEG=%llu",
        (unsigned long long)leg->id, "SAPHAN_UID=%u", leg->peer.uid, "SAPHAN_VERDICT=%s",
        colour_name(verdict->colour), "SAPHAN_REASON=%s", first, "SAPHAN_RULE=%s",
        leg->rule_name ? leg->rule_name : "", NULL);
}

void journal_door(const struct leg *leg, enum event_kind kind, enum reason reason,
    const char *subject, const char *detail)
{
    const char *what = kind == EVENT_CONNECTED ? "connected"
                       : kind == EVENT_DOOR    ? "list changed"
                                               : "refused";

    if (!getenv("JOURNAL_STREAM") || kind == EVENT_DISCONNECTED)
        return;
    (void)sd_journal_send("MESSAGE=leg %llu of uid %u: door: %s: %s %s",
        (unsigned long long)leg->id, leg->peer.uid, what, subject ? subject : "",
        detail ? detail : "", "PRIORITY=6", "SAPHAN_LEG=%llu", (unsigned long long)leg->id,
        "SAPHAN_UID=%u", leg->peer.uid, "SAPHAN_HOST=%s", subject ? subject : "",
        "SAPHAN_REASON=%s", reason_entry(reason)->slug, NULL);
}
