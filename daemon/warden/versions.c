/* versions.c - the version of a vendor's program.
 *
 * The program is never run by the warden's own hand: a leg of its own is asked for in the
 * requester's name, by the same rule, with the program's package alone to see, no network and a
 * HOME in memory. It is judged like any leg and has its row.  What it wrote is read by the reader,
 * as the requester. The answer holds for one identity of the binary (path, dev, ino, size, times,
 * sha256) and for one requester: what a program says could be made up by who runs it. */
#include "versions.h"

#include "kept_files.h"
#include "legs.h"
#include "log.h"
#include "text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define VERSIONS_MAX 128
#define HASH_TIMEOUT_MS 30000
#define READ_TIMEOUT_MS 3000
#define SAY_MS 20000
#define SAY_BYTES 65536
#define TEXT_MAX 120

enum version_state { VERSION_ASKED, VERSION_KNOWN, VERSION_NOT_KNOWN };

struct known_version {
    TAILQ_ENTRY(known_version) entry;
    enum version_state state;
    uint32_t uid;
    char *path;
    uint64_t dev, ino, size;
    int64_t mtime_ns, ctime_ns;
    bool image; /* it lies in one, and the hash is the image's */
    char sha256[65];
    char text[TEXT_MAX]; /* the version, or why it is not known */
    struct warden *warden;
    struct errand *errand; /* the reader's, or NULL */
};

/* ---- the table ---- */

static bool is_of(const struct known_version *version, const struct leg *leg)
{
    const struct leg_program *program = &leg->vendor.program;

    return version->uid == leg->peer.uid && version->dev == program->dev &&
           version->ino == program->ino && version->size == program->size &&
           version->mtime_ns == program->mtime_ns && version->ctime_ns == program->ctime_ns &&
           version->image == (leg->image != NULL) &&
           (!version->image || text_equal(version->sha256, program->sha256)) &&
           text_equal(version->path, program->path);
}

static struct known_version *find(struct leg *leg)
{
    struct known_version *version;

    TAILQ_FOREACH(version, &leg->warden->versions, entry)
    {
        if (is_of(version, leg))
            return version;
    }
    return NULL;
}

static void forget(struct known_version *version)
{
    TAILQ_REMOVE(&version->warden->versions, version, entry);
    version->warden->n_versions--;
    if (version->errand)
        errand_cancel(version->errand);
    free(version->path);
    free(version);
}

void versions_done(struct warden *warden)
{
    while (!TAILQ_EMPTY(&warden->versions))
        forget(TAILQ_FIRST(&warden->versions));
}

/* The oldest that nobody waits for makes room. */
static void make_room(struct warden *warden)
{
    struct known_version *version;

    TAILQ_FOREACH(version, &warden->versions, entry)
    {
        if (version->state != VERSION_ASKED) {
            forget(version);
            return;
        }
    }
}

static struct known_version *remember(struct leg *leg)
{
    const struct leg_program *program = &leg->vendor.program;
    struct known_version *version;

    if (leg->warden->n_versions >= VERSIONS_MAX)
        make_room(leg->warden);
    version = leg->warden->n_versions < VERSIONS_MAX ? calloc(1, sizeof(*version)) : NULL;
    if (!version)
        return NULL;
    *version = (struct known_version){.state = VERSION_ASKED,
        .uid = leg->peer.uid,
        .path = strdup(program->path),
        .dev = program->dev,
        .ino = program->ino,
        .size = program->size,
        .mtime_ns = program->mtime_ns,
        .ctime_ns = program->ctime_ns,
        .image = leg->image != NULL,
        .warden = leg->warden};
    (void)snprintf(version->sha256, sizeof(version->sha256), "%s", leg->vendor.program.sha256);
    TAILQ_INSERT_TAIL(&leg->warden->versions, version, entry);
    leg->warden->n_versions++;
    return version;
}

/* ---- those that wait ---- */

static void take_along(struct leg *leg, const struct known_version *version)
{
    (void)snprintf(leg->vendor.version, sizeof(leg->vendor.version), "%s%s, %ssha256 %s",
        version->state == VERSION_KNOWN ? "says it is " : "did not say its version: ",
        version->text, version->image ? "image " : "", version->sha256);
    leg->vendor.version_known = version->state == VERSION_KNOWN;
}

/* Each may be gone after it was told, and others with it: so from the start again each time. */
static void wake(struct known_version *version)
{
    struct warden *warden = version->warden;
    struct leg *leg;

    do {
        TAILQ_FOREACH(leg, &warden->legs, entry)
        {
            if (leg->vendor.waits_for == version)
                break;
        }
        if (leg) {
            leg->vendor.waits_for = NULL;
            take_along(leg, version);
            leg_vendor_known(leg);
        }
    } while (leg);
}

static void settle(struct known_version *version, enum version_state state, const char *text)
{
    version->state = state;
    (void)snprintf(version->text, sizeof(version->text), "%s", text);
    wake(version);
}

/* ---- asking it, in a leg ---- */

static void put_argv(struct seam_writer *writer, struct seam_run *run, const struct leg *leg)
{
    const struct leg_program *program = &leg->vendor.program;
    const struct words *version = &leg->request.profile->version;
    const char *argv[PROFILE_WORDS_MAX + 2];
    size_t n = 0;

    if (program->interpreter)
        argv[n++] = program->interpreter;
    argv[n++] = program->name;
    for (uint32_t i = 0; i < version->count; i++)
        argv[n++] = version->list[i];
    run->argv = seam_put_list(writer, argv, n);
}

static void put_env(struct seam_writer *writer, struct seam_run *run, const struct leg *leg)
{
    uint32_t program = 0;
    const char *path;
    auto_free char *variable = NULL;

    (void)nesting_program(leg->request.profile, &leg->vendor.command, &program);
    path = nesting_variable(&leg->vendor.command, program, "PATH");
    variable = path ? text_format("PATH=%s", path) : NULL;
    run->env = seam_put_list(writer, (const char *const *)&variable, variable ? 1 : 0);
}

/* A request as a front would send it: it goes the way of all requests. */
static int compose(const struct leg *leg, struct seam_message *ret)
{
    auto_free struct seam_run *run = calloc(1, sizeof(*run));
    auto_close int near = -EBADF, far = -EBADF;
    struct seam_writer writer;
    int pair[2], r;

    if (!run)
        return -ENOMEM;
    r = seam_channel_pair(pair);
    if (r < 0)
        return r;
    near = pair[0];
    far = pair[1];
    seam_writer_init(&writer, SEAM_ASK_RUN, 0);
    run->boundary = leg->run->boundary;
    run->view = leg->run->view;
    run->net = leg->run->net;
    run->detach = 1;
    run->limits.wall_ms = SAY_MS;
    run->limits.output = SAY_BYTES;
    run->streams[0].descriptor = run->streams[1].descriptor = run->streams[2].descriptor = -1;
    run->streams[1].mode = STREAM_KEEP;
    put_argv(&writer, run, leg);
    put_env(&writer, run, leg);
    run->vendor = seam_put_text(&writer, leg->request.profile->name);
    run->image = seam_put_text(&writer, leg->request.image.name);
    run->user = seam_put_text(&writer, seam_text(&leg->ask, leg->run->user));
    run->host_name = seam_put_text(&writer, NULL);
    run->chdir = seam_put_text(&writer, NULL);
    run->carve_outs = seam_put_list(&writer, NULL, 0);
    r = seam_send(near, &writer, run, NULL, 0);
    seam_writer_done(&writer);
    if (r == 0)
        r = seam_receive(far, ret);
    return r > 0 ? -EBADMSG : r;
}

static void ask(struct leg *leg)
{
    struct known_version *version = remember(leg);
    struct seam_message message;
    int r = version ? compose(leg, &message) : -ENOMEM;

    if (!version) {
        leg_vendor_known(leg);
        return;
    }
    leg->vendor.waits_for = version;
    if (r < 0)
        settle(version, VERSION_NOT_KNOWN, fault_errno_name(-r));
    else
        legs_ask_own(leg, &message, version);
}

void version_failed(struct known_version *version, const char *why)
{
    settle(version, VERSION_NOT_KNOWN, why);
}

void version_given_up(struct leg *leg, const char *why)
{
    struct known_version *version = leg->vendor.says;

    if (!version)
        return;
    leg->vendor.says = NULL;
    settle(version, VERSION_NOT_KNOWN, why);
}

/* ---- what it said ---- */

static bool took_line(void *context, struct seam_message *message)
{
    struct known_version *version = context;
    const struct seam_found *found = message->fixed;
    const char *line = seam_text(message, found->value);

    if (found->found == FOUND_VALUE && line && *line)
        (void)snprintf(version->text, sizeof(version->text), "%s", line);
    return true;
}

static void line_read(void *context, int result)
{
    struct known_version *version = context;
    char text[TEXT_MAX];

    version->errand = NULL;
    (void)snprintf(text, sizeof(text), "%s", version->text);
    if (result == 0 && text[0])
        settle(version, VERSION_KNOWN, text);
    else
        settle(version, VERSION_NOT_KNOWN, "it said nothing that could be read");
}

static int read_line(struct leg *leg, struct known_version *version)
{
    auto_free struct seam_read *read = calloc(1, sizeof(*read));
    auto_close int kept = -EBADF;
    struct seam_writer writer;
    int r = read ? kept_file_open(leg->warden, leg->id, 1, &kept) : -ENOMEM;

    if (r < 0)
        return r;
    seam_writer_init(&writer, SEAM_READ, 0);
    read->n_questions = 1;
    read->questions[0].kind = READ_KEPT_LINE;
    read->questions[0].path = read->questions[0].text = read->questions[0].key =
        seam_put_text(&writer, NULL);
    r = errand_run(leg->warden,
        &(struct errand_question){.program = PROGRAM_READER,
            .as = &leg->peer,
            .type = SEAM_READ,
            .fixed = read,
            .writer = &writer,
            .descriptors = &kept,
            .n_descriptors = 1,
            .answer_type = SEAM_FOUND,
            .n_answers = 1,
            .timeout_ms = READ_TIMEOUT_MS,
            .answer = took_line,
            .done = line_read,
            .context = version},
        &version->errand);
    seam_writer_done(&writer);
    return r;
}

void version_said(struct leg *leg, const struct verdict *verdict)
{
    struct known_version *version = leg->vendor.says;
    int r;

    if (!version)
        return;
    if (verdict->colour != COLOUR_GREEN) {
        version_given_up(
            leg, verdict->n_reasons > 0 ? reason_entry(verdict->reasons[0])->slug : "");
        return;
    }
    leg->vendor.says = NULL;
    r = read_line(leg, version);
    if (r < 0)
        settle(version, VERSION_NOT_KNOWN, fault_errno_name(-r));
}

/* ---- the binary's hash, by the checker as the requester ---- */

static bool took_hash(void *context, struct seam_message *message)
{
    struct leg *leg = context;
    const struct artefact_stamp *stamp = &((const struct seam_checked *)message->fixed)->stamp;
    const struct leg_program *program = &leg->vendor.program;

    if (stamp->error == 0 && stamp->hashed && stamp->dev == program->dev &&
        stamp->ino == program->ino && stamp->ctime_ns == program->ctime_ns)
        text_format_sha256(stamp->sha256, leg->vendor.program.sha256);
    return true;
}

static void look_up(struct leg *leg)
{
    struct known_version *version = find(leg);

    if (!version) {
        ask(leg);
    } else if (version->state == VERSION_ASKED) {
        leg->vendor.waits_for = version;
    } else {
        take_along(leg, version);
        leg_vendor_known(leg);
    }
}

static void hashed(void *context, int result)
{
    struct leg *leg = context;

    leg->errand = NULL;
    if (result == 0 && leg->vendor.program.sha256[0]) {
        look_up(leg);
        return;
    }
    (void)snprintf(leg->vendor.version, sizeof(leg->vendor.version),
        "was not asked for its version: its file could not be hashed");
    leg_vendor_known(leg);
}

static int hash(struct leg *leg)
{
    auto_free struct seam_check *check = calloc(1, sizeof(*check));
    struct seam_writer writer;
    int r;

    if (!check)
        return -ENOMEM;
    seam_writer_init(&writer, SEAM_CHECK, 0);
    check->n_artefacts = 1;
    check->artefacts[0].hash = CHECK_HASH_WANTED;
    check->artefacts[0].path = seam_put_text(&writer, "");
    r = errand_run(leg->warden,
        &(struct errand_question){.program = PROGRAM_CHECKER,
            .as = &leg->peer,
            .type = SEAM_CHECK,
            .fixed = check,
            .writer = &writer,
            .descriptors = &leg->vendor.program.file,
            .n_descriptors = 1,
            .answer_type = SEAM_CHECKED,
            .n_answers = 1,
            .timeout_ms = HASH_TIMEOUT_MS,
            .answer = took_hash,
            .done = hashed,
            .context = leg},
        &leg->errand);
    seam_writer_done(&writer);
    return r;
}

bool version_is_asked(const struct leg *leg)
{
    const struct leg_program *program = &leg->vendor.program;

    return !leg->vendor.says && leg->request.profile && leg->request.profile->version.count > 0 &&
           (program->file >= 0 || leg->image) && program->path && program->name;
}

void version_know(struct leg *leg)
{
    if (version_is_asked(leg) && (leg->image || find(leg)))
        look_up(leg);
    else if (!version_is_asked(leg) || hash(leg) < 0)
        leg_vendor_known(leg);
}

void version_tell(struct leg *leg)
{
    const struct words *measured = leg->request.profile ? &leg->request.profile->measured : NULL;
    char detail[600];
    const char *of = "";

    if (!leg->vendor.version[0])
        return;
    if (leg->vendor.version_known && measured->count > 0)
        of = strstr(leg->vendor.version, measured->list[0])
                 ? "; its profile was measured on it: "
                 : "; its profile was measured on another: ";
    (void)snprintf(detail, sizeof(detail), "%.32s %.280s%s%.60s%s%.30s", leg->request.profile->name,
        leg->vendor.version, of, *of ? measured->list[0] : "",
        *of && measured->count > 1 ? " " : "", *of && measured->count > 1 ? measured->list[1] : "");
    leg_tell(leg, EVENT_NOTE, REASON_NONE, NULL, leg->vendor.program.path, detail);
}
