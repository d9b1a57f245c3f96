/* folds.h - what was heard, by domain, with repeats folded: one message where the kernel told
 * thousands.
 *
 * A denial is told at its first time, whenever its count has grown tenfold, and when its domain
 * ends or is asked about.  Of one domain FOLDS_MAX different denials are told apart; all further
 * ones share a place, and their count.  So what a leg can make the ear say is bounded, however many
 * paths it invents.
 */
#pragma once

#include "messages.h"
#include "record.h"
#include <stdbool.h>
#include <sys/queue.h>

#define FOLDS_MAX 256
#define FOLDS_DOMAINS_MAX 256

struct fold {
    uint64_t key; /* of blockers and object */
    uint64_t blockers, ino;
    uint64_t count, told;
    int64_t first_ms, last_ms;
    int32_t pid;
    bool further;
    char *object, *dev, *comm, *exe; /* owned; NULL: none */
};

struct domain {
    TAILQ_ENTRY(domain) entry;
    uint64_t id;
    int32_t pid; /* who made it; 0: its first record was not heard */
    uint32_t uid;
    int64_t made_ms;
    uint64_t denials; /* as the kernel counted, when it is gone */
    uint64_t heard;   /* as we did */
    bool foreign;     /* made by somebody who is no leg of ours: nothing of it is kept or told */
    bool introduced;  /* its HEARD_DOMAIN was sent, or there is none to send */
    bool gone, tell_all, changed;
    uint32_t n_folds;
    struct fold folds[FOLDS_MAX + 1];
};

TAILQ_HEAD(domain_list, domain);

struct folds {
    struct domain_list domains; /* the one heard of last comes last */
    uint32_t n_domains;
    uint32_t uid_first, uid_last; /* the ids of our legs */
};

void folds_init(struct folds *folds, uint32_t uid_first, uint32_t uid_last);
void folds_done(struct folds *folds);

/* Each takes one record of its kind.  -ENOMEM: it is not kept. */
int folds_made(struct folds *folds, const struct record *made);
int folds_denied(struct folds *folds, const struct record *denial);
void folds_gone(struct folds *folds, const struct record *gone);

/* All that is not told of the domains that PID made is told with the next folds_tell(). */
void folds_ask(struct folds *folds, int32_t pid);

/* Sends what is to be told: 0, or what send() said when it could not; then all that is left waits
 * for the next call.  Domains that are gone and told are forgotten. */
typedef int folds_send(void *context, uint16_t type, struct seam_writer *writer, const void *fixed);
int folds_tell(struct folds *folds, folds_send *send, void *context);
