#include "image_word.h"

#include "json.h"
#include "own.h"
#include "say.h"
#include "text.h"
#include "verb_options.h"
#include <stdio.h>
#include <string.h>

enum { WORD_HELP = 1, WORD_JSON, WORD_REFERENCE };

static const struct option table[] = {
    {"--help", false, WORD_HELP},
    {"-h", false, WORD_HELP},
    {"--json", false, WORD_JSON},
    {"--reference", true, WORD_REFERENCE},
};

int image_word_parse(struct image_word *word, int argc, char **argv)
{
    struct options line = {.verb = word->verb, .argc = argc, .argv = argv};
    size_t n_table = word->may_refer ? 4 : word->may_json ? 3 : 2;
    int n_words = 0, id;
    char *value;

    while ((id = options_next(&line, table, n_table, &value)) != OPTIONS_END) {
        if (id == OPTIONS_ERROR)
            return EXIT_OURS;
        if (id == WORD_HELP)
            return print_text(word->help, strlen(word->help));
        word->json = word->json || id == WORD_JSON;
        if (id == WORD_REFERENCE)
            word->reference = value;
        if (id == OPTIONS_WORD && n_words == word->wanted)
            return say("%s: %s: one word too many", word->verb, escaped(value));
        if (id == OPTIONS_WORD)
            word->words[n_words++] = value;
    }
    if (n_words < word->wanted || line.at < line.argc)
        return say("%s: wanted %d words: see `%s --help`", word->verb, word->wanted, word->verb);
    return -1;
}

static json_t *list(const char *const *texts)
{
    json_t *out = json_array();

    for (size_t i = 0; out && texts[i]; i++)
        (void)json_array_append_new(out, json_text(texts[i]));
    return out;
}

static int print_json(const struct saphan_image *image)
{
    char digest[65];

    text_format_sha256(image->digest, digest);
    return json_line(json_pack(
        "{s:s, s:s, s:o, s:o, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:I, s:I, s:I, s:I, "
        "s:i, s:b}",
        "schema", JSON_SCHEMA_IMAGES, "event", "image", "name", json_text(image->name), "owner",
        json_text(image->owner), "uid", (json_int_t)image->uid, "digest", digest, "architecture",
        json_text(image->architecture), "user", json_text(image->user), "directory",
        json_text(image->directory), "env", list(image->env), "entrypoint", list(image->entrypoint),
        "command", list(image->command), "layers", (int)image->layers, "bytes",
        (json_int_t)image->bytes, "entries", (json_int_t)image->entries, "shared_bytes",
        (json_int_t)image->shared_bytes, "added_ms", (json_int_t)image->added_ms, "legs",
        (int)image->legs, "cut", image->cut ? 1 : 0));
}

static void print_list(const char *name, const char *const *texts)
{
    if (!texts[0])
        return;
    (void)printf("%-12s", name);
    for (size_t i = 0; texts[i]; i++)
        (void)printf(" %s", escaped(texts[i]));
    (void)puts("");
}

static void print_text_of(const char *name, const char *text)
{
    if (text[0])
        (void)printf("%-12s %s\n", name, escaped(text));
}

int image_print(void *context, const struct saphan_event *event)
{
    const struct image_word *word = context;
    const struct saphan_image *image = &event->image;
    char digest[65];

    if (event->kind != SAPHAN_EVENT_IMAGE)
        return 0;
    if (word->json)
        return print_json(image);
    text_format_sha256(image->digest, digest);
    (void)printf("%-12s %s\n%-12s sha256:%s\n%-12s %s\n%-12s %s\n", "name", escaped(image->name),
        "digest", digest, "owner", escaped(image->owner), "added", time_text(image->added_ms));
    (void)printf("%-12s %u, %llu bytes, %llu entries; shared: %llu bytes\n", "layers",
        image->layers, (unsigned long long)image->bytes, (unsigned long long)image->entries,
        (unsigned long long)image->shared_bytes);
    print_text_of("architecture", image->architecture);
    print_text_of("user", image->user);
    print_text_of("directory", image->directory);
    print_list("env", image->env);
    print_list("entrypoint", image->entrypoint);
    print_list("command", image->command);
    (void)printf("%-12s %u\n", "legs", image->legs);
    return fflush(stdout) != 0 ? say("standard output could not be written") : 0;
}

int image_print_row(void *context, const struct saphan_event *event)
{
    struct image_word *word = context;
    const struct saphan_image *image = &event->image;
    char digest[65];

    if (event->kind != SAPHAN_EVENT_IMAGE)
        return 0;
    if (word->json)
        return print_json(image);
    if (word->count++ == 0)
        (void)printf("%-24s  %-12s  %6s  %12s  %-12s  %-20s  %4s\n", "NAME", "DIGEST", "LAYERS",
            "BYTES", "OWNER", "ADDED", "LEGS");
    text_format_sha256(image->digest, digest);
    (void)printf("%-24s  %.12s  %6u  %12llu  %-12s  %-20s  %4u\n", escaped(image->name), digest,
        image->layers, (unsigned long long)image->bytes, escaped(image->owner),
        time_text(image->added_ms), image->legs);
    return 0;
}
