/* saphan-reader - looks into settings files as the requester.
 *
 * Usage: saphan-reader UID GID [GROUP,...], descriptor 3 = its seam channel.
 *
 * What it should do: say what one key of a settings file is, or what a file's hash is, for the
 * files of a seat home and a workspace that decide what a vendor's program does, and for JSON that
 * stands in the command itself.
 *
 * What it must not: guess (a file that cannot be read or is not its form is said to be broken, and
 * the leg is refused); follow a link out of the directory it was given; read anything but a regular
 * file.
 *
 * What an attacker who owns it gains: the files are hostile text, read by jansson.  He would be the
 * requester without any capability, unable to write, to make a process or a socket, and could give
 * wrong answers: then a leg starts whose vendor's sandbox is on, which the kernel refuses and the
 * verdict tells.  The boundary is the same whatever he answers.
 */
#include "confine.h"
#include "filters.h"
#include "json_key.h"
#include "kept.h"
#include "settings_directory.h"
#include "settings_file.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define CPU_SECONDS 5

static int answer(
    uint64_t request, uint32_t question, const struct nesting_answer *found, const uint8_t *sha256)
{
    struct seam_found out = {.question = question, .found = found->found};
    struct seam_writer writer;
    int r;

    if (sha256)
        memcpy(out.sha256, sha256, sizeof(out.sha256));
    seam_writer_init(&writer, SEAM_FOUND, request);
    out.value = seam_put_text(&writer, found->value);
    out.why = seam_put_text(&writer, found->why);
    r = seam_send(CONFINE_CHANNEL, &writer, &out, NULL, 0);
    seam_writer_done(&writer);
    return r;
}

static bool is_drop_in(const char *path)
{
    size_t length = strlen(path), end = strlen(SETTINGS_DIRECTORY_SUFFIX);

    return length > end && text_equal(path + length - end, SETTINGS_DIRECTORY_SUFFIX);
}

static void look(uint32_t kind, int directory, const char *path, const char *key,
    struct nesting_answer *found, uint8_t sha256[32])
{
    auto_free char *text = NULL;
    size_t length = 0;
    int r;

    if (kind == READ_KEY && directory == AT_FDCWD && is_drop_in(path)) {
        settings_directory_key(path, key, found);
        return;
    }
    r = settings_file_read(directory, path, &text, &length);
    if (r == -ENOENT) {
        found->found = FOUND_NOTHING;
    } else if (r < 0) {
        found->found = FOUND_BROKEN;
        (void)snprintf(found->why, sizeof(found->why), "cannot be read: %s",
            r == -EINVAL ? "not a regular file" : fault_errno_name(-r));
    } else if (kind == READ_HASH) {
        found->found = FOUND_VALUE;
        settings_file_hash(text, length, sha256);
    } else {
        json_key(text, length, key, found);
    }
}

/* What a program wrote: escaped, cut. */
static void kept_line(int fd, struct nesting_answer *found)
{
    struct kept_reader reader;
    char text[512];
    uint64_t gap;
    ssize_t n = kept_open(&reader, fd);

    if (n == 0)
        n = kept_read(&reader, text, sizeof(text) - 1, &gap);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    text[100] = '\0';
    found->found = n > 0 ? FOUND_VALUE : FOUND_NOTHING;
    text_escape(text, found->value, sizeof(found->value));
}

static int answer_one(const struct seam_message *message, uint32_t index)
{
    const struct seam_read *asked = message->fixed;
    const char *path = seam_text(message, asked->questions[index].path);
    const char *text = seam_text(message, asked->questions[index].text);
    const char *key = seam_text(message, asked->questions[index].key);
    uint32_t kind = asked->questions[index].kind;
    int32_t descriptor = asked->questions[index].descriptor;
    struct nesting_answer found = {.found = FOUND_UNSET};
    uint8_t sha256[32] = {0};

    if (descriptor >= 0 && (size_t)descriptor >= message->n_descriptors)
        return SEAM_E_MALFORMED;
    if (kind == READ_KEPT_LINE && descriptor >= 0) {
        kept_line(message->descriptors[descriptor], &found);
        return answer(message->header.request, index, &found, NULL);
    }
    if ((kind != READ_KEY && kind != READ_HASH) || (kind == READ_KEY && !key) || (!path && !text))
        return SEAM_E_MALFORMED;
    if (path && descriptor < 0 && !text_path_is_normal(path))
        return SEAM_E_MALFORMED;
    if (path)
        look(kind, descriptor < 0 ? AT_FDCWD : message->descriptors[descriptor], path, key, &found,
            sha256);
    else
        json_key(text, strlen(text), key, &found);
    return answer(message->header.request, index, &found, sha256);
}

static int answer_all(const struct seam_message *message)
{
    const struct seam_read *asked = message->fixed;

    if (asked->n_questions > READ_QUESTIONS_MAX)
        return SEAM_E_MALFORMED;
    for (uint32_t i = 0; i < asked->n_questions; i++) {
        int r = answer_one(message, i);

        if (r != 0)
            return r;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct confine_program program = {
        .name = "saphan-reader",
        .filter = &filter_reader,
        .cpu_seconds = CPU_SECONDS,
        .takes = SEAM_READ,
        .serve = answer_all,
    };

    json_object_seed(1); /* never from a file: what is hashed is bounded, and so is our time */
    confine_main(&program, argc, argv);
}
