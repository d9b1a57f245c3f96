#include "leg_environment.h"

#include "environment.h"
#include "leg_image.h"
#include <errno.h>
#include <string.h>

DEFINE_AUTO(char **, environment_free);

static const char *home_of(const struct leg *leg)
{
    int seat = leg_seat(leg);

    return seat >= 0 ? grant_place(&leg->request.grants[seat]) : LEG_HOME;
}

/* What an image says comes before what the request says.  What is no variable is left out. */
static size_t add_image(const struct leg *leg, const char **added)
{
    const struct string_block *env = &leg->image->record.env;
    const char *at = env->bytes;
    size_t count = 0;

    for (uint32_t i = 0; i < env->count; i++, at += strlen(at) + 1) {
        if (at[0] != '=' && strchr(at, '='))
            added[count++] = at;
    }
    return count;
}

static int add_all(const struct leg *leg, const char ***ret, size_t *ret_count)
{
    const char *at = seam_list_first(&leg->ask, leg->run->env);
    size_t count = 0, room = (size_t)leg->run->env.count + 1;
    const char **added;

    if (leg->image)
        room += leg->image->record.env.count;
    added = calloc(room, sizeof(*added));
    if (!added)
        return -ENOMEM;
    if (leg->image)
        count = add_image(leg, added);
    for (uint32_t i = 0; i < leg->run->env.count; i++, at = seam_list_next(at))
        added[count++] = at;
    *ret = added;
    *ret_count = count;
    return 0;
}

int leg_put_environment(
    const struct leg *leg, struct seam_writer *writer, struct seam_list *ret_env)
{
    const struct profile *profile = leg->request.profile;
    const struct leg_surroundings about = {.leg = leg->id,
        .uid = leg->image ? leg->image->uid : leg->peer.uid,
        .home = home_of(leg),
        .user = leg->image ? leg->image->user : leg->user,
        .door = leg->decision.net == NET_DOOR,
        .node = !profile || profile->proxy_node, /* a program of which nothing is known */
        .jvm = !profile || profile->proxy_jvm};
    auto_(environment_free) char **environment = NULL;
    auto_free const char **added = NULL;
    size_t n_added, count = 0;
    int r = add_all(leg, &added, &n_added);

    if (r < 0)
        return r;
    r = environment_compose(&about, added, n_added, &environment, NULL);
    if (r != 0)
        return r < 0 ? r
                     : -EINVAL; /* the front checked each name: this is not a client's mistake */
    while (environment[count])
        count++;
    *ret_env = seam_put_list(writer, (const char *const *)environment, count);
    return 0;
}
