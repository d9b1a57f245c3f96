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

static int grant_of(const struct leg *leg, enum profile_place place)
{
    enum grant_kind kind = place == PLACE_HOME ? GRANT_SEAT : GRANT_WORKSPACE;

    for (uint32_t i = 0; i < leg->request.n_grants; i++) {
        if (leg->request.grants[i].kind == kind)
            return (int)i;
    }
    return -1;
}

/* ---- asking ---- */

struct asking {
    struct leg *leg;
    struct seam_read *read;
    struct seam_writer *writer;
    int descriptors[2]; /* the seat's, the workspace's */
    size_t n_descriptors;
    int index[2]; /* of place HOME, WORKSPACE in DESCRIPTORS, or -1 */
};

static void add_directory(struct asking *asking, enum profile_place place)
{
    int grant = grant_of(asking->leg, place);

    asking->index[place == PLACE_HOME ? 0 : 1] = -1;
    if (grant < 0)
        return;
    asking->index[place == PLACE_HOME ? 0 : 1] = (int)asking->n_descriptors;
    asking->descriptors[asking->n_descriptors++] = asking->leg->grant_fds[grant];
}

/* False: there is no such directory, so that nothing is in it. */
static bool ask(struct asking *asking, enum profile_place place, const char *path, const char *text,
    const char *key)
{
    struct seam_read *read = asking->read;
    uint32_t n = read->n_questions;
    int descriptor = -1;

    if (place == PLACE_HOME || place == PLACE_WORKSPACE) {
        descriptor = asking->index[place == PLACE_HOME ? 0 : 1];
        if (descriptor < 0)
            return false;
    }
    read->questions[n].kind = key ? READ_KEY : READ_HASH;
    read->questions[n].descriptor = descriptor;
    read->questions[n].path = seam_put_text(asking->writer, path);
    read->questions[n].text = seam_put_text(asking->writer, text);
    read->questions[n].key = seam_put_text(asking->writer, key);
    read->n_questions++;
    return true;
}

static void ask_about_nesting(struct asking *asking)
{
    struct leg_vendor *vendor = &asking->leg->vendor;

    for (uint32_t i = 0; i < vendor->n_questions; i++) {
        const struct nesting_question *question = &vendor->questions[i];

        if (ask(asking, question->place, question->path, question->text, question->key))
            vendor->asked[vendor->n_asked++] = (struct leg_asked){.nesting = true, .index = i};
        else
            vendor->answers[i].found = FOUND_NOTHING;
    }
}

static void ask_about_files(struct asking *asking, struct vendor_file_state *states)
{
    struct leg_vendor *vendor = &asking->leg->vendor;

    for (uint32_t i = 0; i < vendor->n_files; i++) {
        const struct vendor_file *file = &vendor->files[i];

        if (ask(asking, file->place, file->path, NULL, file->key))
            vendor->asked[vendor->n_asked++] = (struct leg_asked){.nesting = false, .index = i};
        else
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
        struct nesting_answer *answer = &vendor->answers[asked->index];

        answer->found = (enum nesting_found)found->found;
        (void)snprintf(answer->value, sizeof(answer->value), "%s", value ? value : "");
        (void)snprintf(answer->why, sizeof(answer->why), "%s", why ? why : "");
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
    add_directory(&asking, PLACE_HOME);
    add_directory(&asking, PLACE_WORKSPACE);
    leg->vendor.n_asked = 0;
    if (!leg->gone_us)
        ask_about_nesting(&asking);
    ask_about_files(&asking, leg->gone_us ? leg->vendor.after : leg->vendor.before);
    if (read->n_questions > 0)
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

static void tell(struct leg *leg, enum reason reason, uint32_t index, const char *detail)
{
    leg_tell(leg, EVENT_NOTE, reason, NULL, leg->vendor.files[index].path, detail);
}

void leg_files_started(struct leg *leg)
{
    const struct leg_vendor *vendor = &leg->vendor;
    char detail[NESTING_DETAIL_MAX];

    for (uint32_t i = 0; i < vendor->n_files; i++) {
        if (vendor->before[i].found == FOUND_NOTHING)
            continue;
        if (vendor->files[i].kind == VENDOR_FILE_STEER) {
            vendor_file_steers(&vendor->files[i], &vendor->before[i], detail, sizeof(detail));
            tell(leg, REASON_WORKSPACE_STEERS_VENDOR, i, detail);
        } else if (vendor->files[i].kind == VENDOR_FILE_PERMISSION) {
            (void)snprintf(detail, sizeof(detail), "a permission file reached %s: sha256 %s",
                leg->request.profile->name, vendor->before[i].value);
            tell(leg, REASON_NONE, i, detail);
        }
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
