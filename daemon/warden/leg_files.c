/* leg_files.c - the files that decide for a vendor or steer it, looked at by the reader, as the
 * requester: before the leg is admitted, and again when its last process is gone.
 *
 * The seat home that was not given is the leg's own memory: nothing stands in it before the leg,
 * and what stood in it after goes with it. */
#include "leg.h"

#include "text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define READ_TIMEOUT_MS 3000
#define DIRECTORIES_MAX 3 /* the seat, and what shows the leg's directory and the workspace */

/* ---- asking ---- */

struct asking {
    struct leg *leg;
    struct seam_read *read;
    struct seam_writer *writer;
    int descriptors[DIRECTORIES_MAX]; /* of grants: the seat, what shows the workspace's places */
    uint32_t grants[DIRECTORIES_MAX];
    size_t n_descriptors;
    int error;
};

/* The index of GRANT's descriptor among those that go along. */
static int32_t descriptor_of(struct asking *asking, uint32_t grant)
{
    for (size_t i = 0; i < asking->n_descriptors; i++) {
        if (asking->grants[i] == grant)
            return (int32_t)i;
    }
    if (asking->n_descriptors == DIRECTORIES_MAX) {
        asking->error = -E2BIG;
        return -1;
    }
    asking->grants[asking->n_descriptors] = grant;
    asking->descriptors[asking->n_descriptors] = asking->leg->grant_fds[grant];
    return (int32_t)asking->n_descriptors++;
}

static void put(struct asking *asking, int32_t descriptor, const char *path, const char *text,
    const char *key, struct leg_asked asked)
{
    struct seam_read *read = asking->read;
    uint32_t n = read->n_questions;

    if (n == READ_QUESTIONS_MAX)
        asking->error = -E2BIG;
    if (asking->error)
        return;
    read->questions[n].kind = key ? READ_KEY : READ_HASH;
    read->questions[n].descriptor = descriptor;
    read->questions[n].path = seam_put_text(asking->writer, path);
    read->questions[n].text = seam_put_text(asking->writer, text);
    read->questions[n].key = seam_put_text(asking->writer, key);
    asking->leg->vendor.asked[read->n_questions++] = asked;
}

/* False: there is no seat, so that nothing is in it. */
static bool ask_in_seat(
    struct asking *asking, const char *path, const char *key, struct leg_asked asked)
{
    int seat = leg_seat(asking->leg);

    if (seat >= 0)
        put(asking, descriptor_of(asking, (uint32_t)seat), path, NULL, key, asked);
    return seat >= 0;
}

static void ask_in_place(
    struct asking *asking, const char *path, const char *key, struct leg_asked asked)
{
    const char *place = leg_place_in_grant(asking->leg, asked.place);
    auto_free char *joined = text_format("%s%s%s", place, *place ? "/" : "", path);

    if (!joined)
        asking->error = -ENOMEM;
    else
        put(asking, descriptor_of(asking, asking->leg->vendor.places[asked.place].grant), joined,
            NULL, key, asked);
}

static void ask_about_nesting(struct asking *asking)
{
    struct leg_vendor *vendor = &asking->leg->vendor;

    for (uint32_t i = 0; i < vendor->n_questions; i++) {
        const struct nesting_question *question = &vendor->questions[i];
        struct leg_asked asked = {.nesting = true, .index = i};

        vendor->answers[i].found = FOUND_UNSET;
        if (question->place == PLACE_HOME) {
            if (!ask_in_seat(asking, question->path, question->key, asked))
                vendor->answers[i].found = FOUND_NOTHING;
        } else if (question->place == PLACE_WORKSPACE) {
            if (vendor->n_places == 0)
                vendor->answers[i].found = FOUND_NOTHING;
            for (asked.place = 0; asked.place < vendor->n_places; asked.place++)
                ask_in_place(asking, question->path, question->key, asked);
        } else if (question->place == PLACE_SYSTEM && asking->leg->request.image.name) {
            vendor->answers[i].found = FOUND_NOTHING; /* the host's, which the leg does not see */
        } else {
            put(asking, -1, question->path, question->text, question->key, asked);
        }
    }
}

static void ask_about_files(struct asking *asking, struct vendor_file_state *states)
{
    struct leg_vendor *vendor = &asking->leg->vendor;

    for (uint32_t i = 0; i < vendor->n_files; i++) {
        const struct vendor_file *file = &vendor->files[i];
        struct leg_asked asked = {.index = i, .place = file->directory};

        if (file->place == PLACE_WORKSPACE)
            ask_in_place(asking, file->path, file->key, asked);
        else if (!ask_in_seat(asking, file->path, file->key, asked))
            states[i].found = FOUND_NOTHING;
    }
}

/* ---- answers ---- */

static void take_state(struct vendor_file_state *state, const struct vendor_file *file,
    const struct seam_found *found, const char *value)
{
    char digest[65];

    state->found = (enum nesting_found)found->found;
    if (state->found == FOUND_VALUE && !file->key) {
        text_format_sha256(found->sha256, digest);
        value = digest;
    }
    (void)snprintf(state->value, sizeof(state->value), "%s", value ? value : "");
}

static void take_answer(struct leg *leg, const struct leg_asked *asked,
    const struct seam_found *found, const char *value, const char *why)
{
    struct leg_vendor *vendor = &leg->vendor;
    const struct nesting_question *question = &vendor->questions[asked->index];
    struct nesting_answer answer = {.found = (enum nesting_found)found->found};

    (void)snprintf(answer.value, sizeof(answer.value), "%s", value ? value : "");
    (void)snprintf(answer.why, sizeof(answer.why), "%s", why ? why : "");
    if (question->place == PLACE_WORKSPACE &&
        !text_equal(vendor->places[asked->place].path, vendor->command.workspace))
        answer.directory = vendor->places[asked->place].path;
    nesting_merge(
        &leg->request.profile->switches[question->of], &vendor->answers[asked->index], &answer);
}

static bool took_answer(void *context, struct seam_message *message)
{
    struct leg *leg = context;
    struct leg_vendor *vendor = &leg->vendor;
    const struct seam_found *found = message->fixed;
    const char *value = seam_text(message, found->value), *why = seam_text(message, found->why);
    const struct leg_asked *asked;

    if (found->question >= vendor->n_asked || found->found > FOUND_BROKEN)
        return true;
    asked = &vendor->asked[found->question];
    if (asked->nesting) {
        take_answer(leg, asked, found, value, why);
    } else {
        take_state(leg->gone_us ? &vendor->after[asked->index] : &vendor->before[asked->index],
            &vendor->files[asked->index], found, value);
    }
    return true;
}

int leg_read_files(struct leg *leg, errand_done *done)
{
    auto_free struct seam_read *read = calloc(1, sizeof(*read));
    struct seam_writer writer;
    struct asking asking = {.leg = leg, .read = read, .writer = &writer};
    int r = 0;

    if (!read)
        return -ENOMEM;
    seam_writer_init(&writer, SEAM_READ, 0);
    if (!leg->gone_us)
        ask_about_nesting(&asking);
    ask_about_files(&asking, leg->gone_us ? leg->vendor.after : leg->vendor.before);
    leg->vendor.n_asked = read->n_questions;
    r = asking.error;
    if (r == 0 && read->n_questions > 0)
        r = errand_run(leg->warden,
            &(struct errand_question){.program = PROGRAM_READER,
                .as = &leg->peer,
                .type = SEAM_READ,
                .fixed = read,
                .writer = &writer,
                .descriptors = asking.descriptors,
                .n_descriptors = asking.n_descriptors,
                .answer_type = SEAM_FOUND,
                .n_answers = read->n_questions,
                .timeout_ms = READ_TIMEOUT_MS,
                .answer = took_answer,
                .done = done,
                .context = leg},
            &leg->errand);
    seam_writer_done(&writer);
    return r < 0 ? r : read->n_questions > 0 ? 1 : 0;
}

/* ---- what is told ---- */

/* The file's name in the leg, for people; "" when memory is out. */
static char *name_of(const struct leg *leg, uint32_t index)
{
    const struct vendor_file *file = &leg->vendor.files[index];
    const char *directory = file->place == PLACE_WORKSPACE
                                ? leg->vendor.places[file->directory].path
                                : leg->vendor.command.seat;

    return text_format(
        "%s%s%s", directory ? directory : "", directory && directory[1] ? "/" : "", file->path);
}

static void tell(struct leg *leg, enum reason reason, uint32_t index, const char *detail)
{
    auto_free char *name = name_of(leg, index);

    leg_tell(leg, EVENT_NOTE, reason, NULL, name, detail);
}

void leg_file_steers(const struct leg *leg, uint32_t index, char *out, size_t size)
{
    auto_free char *name = name_of(leg, index);

    vendor_file_steers(
        &leg->vendor.files[index], name ? name : "", &leg->vendor.before[index], out, size);
}

/* What reached it is what lies where it looks; what it made of it, nobody here knows. */
static void tell_permissions(struct leg *leg)
{
    const struct leg_vendor *vendor = &leg->vendor;
    const char *name = leg->request.profile->name;
    char detail[NESTING_DETAIL_MAX], hash[NESTING_VALUE_MAX + 16];
    uint32_t found = 0;

    for (uint32_t i = 0; i < vendor->n_files; i++) {
        if (vendor->files[i].kind != VENDOR_FILE_PERMISSION ||
            vendor->before[i].found == FOUND_NOTHING)
            continue;
        found++;
        vendor_file_show(&vendor->before[i], hash, sizeof(hash));
        (void)snprintf(detail, sizeof(detail), "a permission file reached %.32s: %s", name, hash);
        tell(leg, REASON_NONE, i, detail);
    }
    if (found > 0)
        return;
    (void)snprintf(detail, sizeof(detail),
        leg->request.profile->permissions.count > 0
            ? "no permission file reached %.32s: none lies where it looks"
            : "no permission file reached %.32s: its profile knows of none that it reads",
        name);
    leg_tell(leg, EVENT_NOTE, REASON_NONE, NULL, NULL, detail);
}

void leg_files_started(struct leg *leg)
{
    const struct leg_vendor *vendor = &leg->vendor;
    char detail[NESTING_DETAIL_MAX];

    if (!leg->request.vendor || !*leg->request.vendor || !leg->request.profile)
        return;
    leg_seat_started(leg);
    tell_permissions(leg);
    for (uint32_t i = 0; i < vendor->n_files; i++) {
        if (vendor->before[i].found == FOUND_NOTHING || vendor->files[i].kind != VENDOR_FILE_STEER)
            continue;
        leg_file_steers(leg, i, detail, sizeof(detail));
        tell(leg, REASON_WORKSPACE_STEERS_VENDOR, i, detail);
    }
}

void leg_files_ended(struct leg *leg)
{
    struct leg_vendor *vendor = &leg->vendor;
    char detail[NESTING_DETAIL_MAX];

    for (uint32_t i = 0; i < vendor->n_files; i++) {
        if (vendor->after[i].found == FOUND_UNSET ||
            !vendor_file_changed(&vendor->before[i], &vendor->after[i]))
            continue;
        vendor_file_change(&vendor->before[i], &vendor->after[i], detail, sizeof(detail));
        if (vendor->files[i].kind == VENDOR_FILE_SETTINGS) {
            tell(leg, REASON_PROFILE_REWRITTEN, i, detail);
            leg->ending.rewritten |= vendor->rewritten_red;
        } else {
            tell(leg, REASON_WORKSPACE_STEERS_VENDOR, i, detail);
        }
    }
}
