#include "joins.h"

#include <string.h>

static void let_go(struct joins *joins, struct join *join, joins_pass *pass, void *context)
{
    struct record denial = join->denial;

    join->denial.kind = 0;
    joins->count--;
    pass(context, &denial);
}

static struct join *find_place(struct joins *joins, joins_pass *pass, void *context)
{
    struct join *oldest = &joins->waiting[0];

    for (size_t i = 0; i < JOINS_MAX; i++) {
        struct join *join = &joins->waiting[i];

        if (join->denial.kind == 0)
            return join;
        if (join->waits_since_us < oldest->waits_since_us)
            oldest = join;
    }
    let_go(joins, oldest, pass, context);
    return oldest;
}

void joins_wait(struct joins *joins, const struct record *denial, uint64_t now_us, joins_pass *pass,
    void *context)
{
    struct join *place = find_place(joins, pass, context);

    place->denial = *denial;
    place->waits_since_us = now_us;
    joins->count++;
}

void joins_meet(struct joins *joins, const struct record *call, joins_pass *pass, void *context)
{
    for (size_t i = 0; joins->count > 0 && i < JOINS_MAX; i++) {
        struct join *join = &joins->waiting[i];

        if (join->denial.kind == 0 || join->denial.serial != call->serial)
            continue;
        if (call->kind == RECORD_CALL) {
            join->denial.pid = call->pid;
            memcpy(join->denial.comm, call->comm, sizeof(call->comm));
            memcpy(join->denial.exe, call->exe, sizeof(call->exe));
        }
        let_go(joins, join, pass, context);
    }
}

void joins_expire(struct joins *joins, uint64_t before_us, joins_pass *pass, void *context)
{
    for (size_t i = 0; joins->count > 0 && i < JOINS_MAX; i++) {
        struct join *join = &joins->waiting[i];

        if (join->denial.kind != 0 && join->waits_since_us < before_us)
            let_go(joins, join, pass, context);
    }
}
