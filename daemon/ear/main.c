/* saphan-ear - hears what the kernel tells of Landlock's denials.
 *
 * Usage: saphan-ear UID FIRST LAST: descriptor 3 = its seam channel, 4 = an audit socket that the
 * warden opened, 5 = an empty directory to live in; FIRST to LAST are the ids of this daemon's
 * legs.
 *
 * What it should do: read the records that the kernel multicasts, join a denial with the record
 * that says whose call it was, fold repeats, and tell the warden: which domain, made by which
 * process, was refused what, on which path, by whom.  Which leg a domain is, it does not know: the
 * warden joins that.  What it did not hear (the socket overran, a record was of no known form) it
 * counts and says.
 *
 * What it must not: wait for the warden (what cannot be sent is folded further), grow with what a
 * leg does (folds.h), or guess at a record.  Every path and name in a record was chosen by a leg.
 *
 * What an attacker who owns it gains: it reads the five types of records that the socket's locked
 * filter lets through, so the names of programs that make audited calls on this machine; no file,
 * process or other socket, in an empty root, as an id that nobody else has, without a capability,
 * under a filter that can only serve its channel.  It can tell the warden lies about denials: they
 * are events, which never decide a verdict.
 */
#include "audit.h"
#include "clock.h"
#include "enclosure.h"
#include "filters.h"
#include "folds.h"
#include "joins.h"
#include "log.h"
#include "own.h"
#include "steps.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#define CHANNEL 3
#define AUDIT 4
#define ROOT 5
#define DESCRIPTORS 16

#define RECORDS_A_TURN 512
#define ASKED_MAX 64
#define QUIET_US 1000     /* records of what is over are on their way so long */
#define PATIENCE_US 50000 /* an answer waits for a quiet moment at most so long */

struct asked {
    uint64_t value;
    uint64_t at_us; /* 0: free */
};

struct ear {
    struct folds folds;
    struct joins joins;
    struct asked asked[ASKED_MAX];
    size_t n_asked;
    struct seam_heard_lost lost;
    bool switched; /* somebody switched audit on or off: to be told */
    bool quiet;    /* no record waits */
    bool stuffed;  /* the channel takes no more for now */
};

static int send_one(void *context, uint16_t type, struct seam_writer *writer, const void *fixed)
{
    int r = seam_send(CHANNEL, writer, fixed, NULL, 0);

    (void)context;
    (void)type;
    seam_writer_done(writer);
    return r;
}

static int send_plain(uint16_t type, const void *fixed)
{
    struct seam_writer writer;

    seam_writer_init(&writer, type, 0);
    return send_one(NULL, type, &writer, fixed);
}

/* ---- hearing ---- */

static void passed(void *context, const struct record *denial)
{
    struct ear *ear = context;

    if (folds_denied(&ear->folds, denial) < 0)
        ear->lost.overruns++;
}

static void take(struct ear *ear, const struct record *record)
{
    switch (record->kind) {
    case RECORD_DENIAL:
        joins_wait(&ear->joins, record, clock_monotonic_us(), passed, ear);
        break;
    case RECORD_CALL:
    case RECORD_END:
        joins_meet(&ear->joins, record, passed, ear);
        break;
    case RECORD_DOMAIN_NEW:
        if (folds_made(&ear->folds, record) < 0)
            ear->lost.overruns++;
        break;
    case RECORD_DOMAIN_GONE:
        joins_expire(&ear->joins, clock_monotonic_us() - QUIET_US, passed, ear);
        folds_gone(&ear->folds, record);
        break;
    case RECORD_SWITCHED:
        ear->switched = true;
        break;
    }
}

/* A turn's worth of records. */
static int hear(struct ear *ear)
{
    static char payload[AUDIT_RECORD_MAX];
    static struct record record;

    ear->quiet = false;
    for (size_t i = 0; i < RECORDS_A_TURN; i++) {
        uint16_t type = 0;
        ssize_t n = audit_receive(AUDIT, &type, payload);
        int r;

        if (n == -EAGAIN) {
            ear->quiet = true;
            return 0;
        }
        if (n == -EINTR)
            continue;
        if (n == -ENOBUFS) {
            ear->lost.overruns++;
            continue;
        }
        if (n < 0 && n != -EBADMSG)
            return (int)n;
        r = n < 0 ? (int)n : record_read(type, payload, &record);
        if (r == 0)
            take(ear, &record);
        else if (r < 0)
            ear->lost.malformed++;
    }
    return 0;
}

/* ---- telling ---- */

static int tell_lost(struct ear *ear)
{
    int r = 0;

    if (ear->lost.overruns || ear->lost.malformed)
        r = send_plain(SEAM_HEARD_LOST, &ear->lost);
    if (r == 0)
        ear->lost = (struct seam_heard_lost){0};
    if (r == 0 && ear->switched)
        r = send_plain(SEAM_HEARD_CHANGE, &(struct seam_end){0});
    if (r == 0)
        ear->switched = false;
    return r;
}

static bool is_time(const struct ear *ear, const struct asked *asked, uint64_t now)
{
    return asked->at_us &&
           ((ear->quiet && now - asked->at_us >= QUIET_US) || now - asked->at_us >= PATIENCE_US);
}

static int answer(struct ear *ear)
{
    uint64_t now = clock_monotonic_us();

    for (size_t i = 0; ear->n_asked > 0 && i < ASKED_MAX; i++) {
        struct asked *asked = &ear->asked[i];
        int r;

        if (!is_time(ear, asked, now))
            continue;
        joins_expire(&ear->joins, now - QUIET_US, passed, ear);
        folds_ask(&ear->folds, (int32_t)asked->value);
        r = folds_tell(&ear->folds, send_one, ear);
        if (r == 0)
            r = send_plain(SEAM_HEARD_OUT, &(struct seam_end){.value = asked->value});
        if (r != 0)
            return r;
        asked->at_us = 0;
        ear->n_asked--;
    }
    return 0;
}

/* 0; -errno or SEAM_E_CLOSED when the channel is gone.  A full one is no error. */
static int tell(struct ear *ear)
{
    int r;

    joins_expire(&ear->joins, clock_monotonic_us() - JOINS_WAIT_US, passed, ear);
    r = tell_lost(ear);
    if (r == 0)
        r = folds_tell(&ear->folds, send_one, ear);
    if (r == 0)
        r = answer(ear);
    ear->stuffed = r == -EAGAIN;
    return r == -EAGAIN ? 0 : r;
}

/* ---- the turn ---- */

/* More questions than places: the warden has its own deadline and goes on without. */
static void be_asked(struct ear *ear, uint64_t value)
{
    for (size_t i = 0; i < ASKED_MAX; i++) {
        if (ear->asked[i].at_us)
            continue;
        ear->asked[i] = (struct asked){value, clock_monotonic_us()};
        ear->n_asked++;
        return;
    }
}

static int listen_to_warden(struct ear *ear)
{
    struct seam_message message;
    int r = seam_receive(CHANNEL, &message);

    if (r == -EAGAIN)
        return 0;
    if (r != 0)
        return r;
    if (message.header.type == SEAM_HEAR_OUT)
        be_asked(ear, ((const struct seam_end *)message.fixed)->value);
    else
        r = SEAM_E_MALFORMED;
    seam_message_done(&message);
    return r;
}

static int patience(const struct ear *ear)
{
    if (ear->n_asked > 0)
        return 1;
    return ear->joins.count > 0 ? JOINS_WAIT_US / 1000 : -1;
}

static int turn(struct ear *ear)
{
    struct pollfd fds[] = {{.fd = CHANNEL, .events = POLLIN}, {.fd = AUDIT, .events = POLLIN}};
    int r;

    if (ear->stuffed)
        fds[0].events |= POLLOUT;
    if (poll(fds, array_size(fds), patience(ear)) < 0)
        return errno == EINTR ? 0 : -errno;
    r = fds[0].revents & ~POLLOUT ? listen_to_warden(ear) : 0;
    if (r == 0)
        r = hear(ear);
    return r == 0 ? tell(ear) : r;
}

static int read_number(const char *text, uint32_t *ret)
{
    uint64_t value;
    int r = text_parse_uint(text, UINT32_MAX - 1, &value);

    if (r == 0)
        *ret = (uint32_t)value;
    return r;
}

int main(int argc, char **argv)
{
    static struct ear ear;
    uint32_t uid, first, last;
    struct fault fault = {0};
    int r;

    log_open("saphan-ear", LOG_LEVEL_INFO);
    if (argc != 4 || read_number(argv[1], &uid) < 0 || read_number(argv[2], &first) < 0 ||
        read_number(argv[3], &last) < 0) {
        log_error("usage: saphan-ear UID FIRST LAST: plain decimal numbers");
        return 2;
    }
    if (fcntl(CHANNEL, F_SETFL, O_NONBLOCK) < 0 ||
        enclosure_enter(uid, ROOT, DESCRIPTORS, &filter_ear, &fault) < 0) {
        log_error(
            "step %s: %s: %s", step_slug(fault.step), fault.subject, fault_errno_name(fault.error));
        return 1;
    }
    folds_init(&ear.folds, first, last);
    do
        r = turn(&ear);
    while (r == 0);
    _exit(r == SEAM_E_CLOSED ? 0 : 1);
}
