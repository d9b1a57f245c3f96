#include "usage.h"

#include "clock.h"
#include "leg.h"

/* A ring of the last admissions: who and when.  A rule's legs_per_minute above this is not counted
 * further back than the ring reaches. */
void usage_of(const struct warden *warden, uint32_t uid, struct usage *ret)
{
    uint64_t now = clock_monotonic_us(), minute = 60000000;
    const struct leg *leg;

    *ret = (struct usage){0};
    TAILQ_FOREACH(leg, &warden->legs, entry)
    ret->legs_now += leg->id != 0 && leg->peer.uid == uid;
    /* From the newest back: the first that is too old ends it. */
    for (uint32_t i = 1; i <= ADMISSIONS_MAX; i++) {
        const struct admission *admission =
            &warden->admissions[(warden->next_admission + ADMISSIONS_MAX - i) % ADMISSIONS_MAX];

        if (admission->at_us == 0 || now - admission->at_us >= minute)
            break;
        ret->legs_last_minute += admission->uid == uid;
    }
}

void usage_count(struct warden *warden, uint32_t uid)
{
    warden->admissions[warden->next_admission] =
        (struct admission){.uid = uid, .at_us = clock_monotonic_us()};
    warden->next_admission = (warden->next_admission + 1) % ADMISSIONS_MAX;
}
