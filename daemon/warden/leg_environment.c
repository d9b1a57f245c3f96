#include "leg_environment.h"

#include "environment.h"
#include <errno.h>

DEFINE_AUTO(char **, environment_free);

static const char *home_of(const struct leg *leg)
{
    int seat = leg_seat(leg);

    return seat >= 0 ? leg->request.grants[seat].path : LEG_HOME;
}

int leg_put_environment(
    const struct leg *leg, struct seam_writer *writer, struct seam_list *ret_env)
{
    const struct leg_surroundings about = {.leg = leg->id,
        .uid = leg->peer.uid,
        .home = home_of(leg),
        .user = leg->user,
        .door = leg->decision.net == NET_DOOR};
    const char *at = seam_list_first(&leg->ask, leg->run->env);
    auto_free const char **requested = calloc((size_t)leg->run->env.count + 1, sizeof(*requested));
    auto_(environment_free) char **environment = NULL;
    size_t count = 0;
    int r;

    if (!requested)
        return -ENOMEM;
    for (uint32_t i = 0; i < leg->run->env.count; i++, at = seam_list_next(at))
        requested[i] = at;
    r = environment_compose(&about, requested, leg->run->env.count, &environment, NULL);
    if (r != 0)
        return r < 0 ? r
                     : -EINVAL; /* the front checked each name: this is not a client's mistake */
    while (environment[count])
        count++;
    *ret_env = seam_put_list(writer, (const char *const *)environment, count);
    return 0;
}
