#include "folds.h"

#include "own.h"
#include "text.h"
#include <errno.h>
#include <string.h>

/* ---- keeping ---- */

static void fold_clear(struct fold *fold)
{
    free(fold->object);
    free(fold->dev);
    free(fold->comm);
    free(fold->exe);
}

static void domain_forget(struct folds *folds, struct domain *domain)
{
    TAILQ_REMOVE(&folds->domains, domain, entry);
    folds->n_domains--;
    for (uint32_t i = 0; i < domain->n_folds; i++)
        fold_clear(&domain->folds[i]);
    free(domain);
}

void folds_init(struct folds *folds, uint32_t uid_first, uint32_t uid_last)
{
    *folds = (struct folds){.uid_first = uid_first, .uid_last = uid_last};
    TAILQ_INIT(&folds->domains);
}

void folds_done(struct folds *folds)
{
    struct domain *domain;

    while ((domain = TAILQ_FIRST(&folds->domains)))
        domain_forget(folds, domain);
}

static struct domain *domain_find(struct folds *folds, uint64_t id)
{
    struct domain *domain;

    /* From the end: who was heard last speaks again. */
    TAILQ_FOREACH_REVERSE(domain, &folds->domains, domain_list, entry)
    {
        if (domain->id == id)
            return domain;
    }
    return NULL;
}

/* Finds or makes it, and puts it last.  The one not heard of for longest makes room. */
static struct domain *domain_of(struct folds *folds, uint64_t id)
{
    struct domain *domain = domain_find(folds, id);

    if (domain) {
        TAILQ_REMOVE(&folds->domains, domain, entry);
        TAILQ_INSERT_TAIL(&folds->domains, domain, entry);
        return domain;
    }
    domain = calloc(1, sizeof(*domain));
    if (!domain)
        return NULL;
    if (folds->n_domains == FOLDS_DOMAINS_MAX)
        domain_forget(folds, TAILQ_FIRST(&folds->domains));
    domain->id = id;
    domain->introduced = true; /* until its maker is heard of */
    TAILQ_INSERT_TAIL(&folds->domains, domain, entry);
    folds->n_domains++;
    return domain;
}

int folds_made(struct folds *folds, const struct record *made)
{
    struct domain *domain = domain_of(folds, made->domain);

    if (!domain)
        return -ENOMEM;
    domain->pid = made->pid;
    domain->uid = made->uid;
    domain->made_ms = made->at_ms;
    domain->foreign = made->uid < folds->uid_first || made->uid > folds->uid_last;
    domain->introduced = domain->foreign;
    domain->changed = true;
    return 0;
}

static uint64_t key_of(const struct record *denial)
{
    uint64_t key = 0xcbf29ce484222325U ^ denial->blockers; /* FNV-1a */

    for (const char *at = denial->object; *at; at++)
        key = (key ^ (uint8_t)*at) * 0x100000001b3U;
    return key;
}

static int keep(char **slot, const char *text)
{
    if (!*text)
        return 0;
    *slot = strdup(text);
    return *slot ? 0 : -ENOMEM;
}

static struct fold *fold_new(struct domain *domain, const struct record *denial, uint64_t key)
{
    struct fold *fold = &domain->folds[domain->n_folds];

    *fold = (struct fold){.key = key, .first_ms = denial->at_ms, .pid = denial->pid};
    fold->further = domain->n_folds == FOLDS_MAX;
    fold->blockers = denial->blockers;
    if (!fold->further) {
        fold->ino = denial->ino;
        if (keep(&fold->object, denial->object) < 0 || keep(&fold->dev, denial->dev) < 0 ||
            keep(&fold->comm, denial->comm) < 0 || keep(&fold->exe, denial->exe) < 0) {
            fold_clear(fold);
            return NULL;
        }
    }
    domain->n_folds++;
    return fold;
}

static struct fold *fold_of(struct domain *domain, const struct record *denial)
{
    uint64_t key = key_of(denial);

    for (uint32_t i = 0; i < domain->n_folds; i++) {
        struct fold *fold = &domain->folds[i];

        if (fold->further || (fold->key == key && fold->blockers == denial->blockers &&
                                 text_equal(fold->object ? fold->object : "", denial->object)))
            return fold;
    }
    return fold_new(domain, denial, key);
}

int folds_denied(struct folds *folds, const struct record *denial)
{
    struct domain *domain = domain_of(folds, denial->domain);
    struct fold *fold;

    if (!domain)
        return -ENOMEM;
    if (domain->foreign)
        return 0;
    domain->heard++;
    fold = fold_of(domain, denial);
    if (!fold)
        return -ENOMEM;
    fold->count++;
    fold->blockers |= denial->blockers;
    fold->last_ms = denial->at_ms;
    domain->changed = true;
    return 0;
}

void folds_gone(struct folds *folds, const struct record *gone)
{
    struct domain *domain = domain_find(folds, gone->domain);

    if (!domain)
        return;
    domain->denials = gone->denials;
    domain->gone = domain->tell_all = domain->changed = true;
}

void folds_ask(struct folds *folds, int32_t pid)
{
    struct domain *domain;

    TAILQ_FOREACH(domain, &folds->domains, entry)
    {
        if (domain->pid == pid)
            domain->tell_all = domain->changed = true;
    }
}

/* ---- telling ---- */

static int tell_state(
    const struct domain *domain, enum heard_domain_state state, folds_send *send, void *context)
{
    struct seam_heard_domain heard = {.domain = domain->id,
        .state = state,
        .pid = domain->pid,
        .uid = domain->uid,
        .at_ms = domain->made_ms,
        .denials = domain->denials,
        .heard = domain->heard};
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_HEARD_DOMAIN, 0);
    return send(context, SEAM_HEARD_DOMAIN, &writer, &heard);
}

static int tell_fold(
    const struct domain *domain, const struct fold *fold, folds_send *send, void *context)
{
    struct seam_heard heard = {.domain = domain->id,
        .blockers = fold->blockers,
        .count = fold->count,
        .first_ms = fold->first_ms,
        .last_ms = fold->last_ms,
        .ino = fold->ino,
        .pid = fold->pid,
        .further = fold->further};
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_HEARD, 0);
    heard.object = seam_put_text(&writer, fold->object);
    heard.dev = seam_put_text(&writer, fold->dev);
    heard.comm = seam_put_text(&writer, fold->comm);
    heard.exe = seam_put_text(&writer, fold->exe);
    return send(context, SEAM_HEARD, &writer, &heard);
}

static bool is_due(const struct fold *fold, bool all)
{
    if (fold->count == fold->told)
        return false;
    return all || fold->told == 0 || fold->count / 10 >= fold->told;
}

static int tell_domain(struct domain *domain, folds_send *send, void *context)
{
    int r = 0;

    if (!domain->introduced)
        r = tell_state(domain, HEARD_DOMAIN_ALLOCATED, send, context);
    if (r == 0)
        domain->introduced = true;
    for (uint32_t i = 0; r == 0 && i < domain->n_folds; i++) {
        struct fold *fold = &domain->folds[i];

        if (!is_due(fold, domain->tell_all))
            continue;
        r = tell_fold(domain, fold, send, context);
        if (r == 0)
            fold->told = fold->count;
    }
    if (r == 0 && domain->gone && !domain->foreign)
        r = tell_state(domain, HEARD_DOMAIN_DEALLOCATED, send, context);
    if (r == 0)
        domain->tell_all = domain->changed = false;
    return r;
}

int folds_tell(struct folds *folds, folds_send *send, void *context)
{
    struct domain *domain, *next;

    for (domain = TAILQ_FIRST(&folds->domains); domain; domain = next) {
        int r = domain->changed ? tell_domain(domain, send, context) : 0;

        next = TAILQ_NEXT(domain, entry);
        if (r != 0)
            return r;
        if (domain->gone)
            domain_forget(folds, domain);
    }
    return 0;
}
