/* saphan why: which part of a leg's boundary decides for a path. */
#include "ask.h"
#include "json.h"
#include "own.h"
#include "say.h"
#include "verb_options.h"
#include "verbs.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: saphan why [--json] ID PATH\n"
    "\n"
    "Says which rule of the leg's boundary, or its absence, decides for PATH: whether the leg "
    "could\n"
    "read, write and execute there, as far as the boundary goes.  PATH is taken by name, as the "
    "leg\n"
    "would; where the boundary allows, a file's own permissions still decide.\n"
    "Ends with 0 when it could be said.\n";

enum { WHY_HELP = 1, WHY_JSON };
static const struct option table[] = {
    {"--help", false, WHY_HELP}, {"-h", false, WHY_HELP}, {"--json", false, WHY_JSON}};

static const char *yes_no(bool yes)
{
    return yes ? "yes" : "no";
}

static int print_why(const struct saphan_event *event, bool json)
{
    const struct saphan_why *why = &event->why;

    if (json)
        return json_line(json_pack("{s:s, s:s, s:I, s:o, s:b, s:b, s:b, s:b, s:s, s:o, s:s}",
            "schema", JSON_SCHEMA_WHY, "event", "why", "leg", (json_int_t)event->leg, "path",
            json_text(why->path), "read", why->read ? 1 : 0, "write", why->write ? 1 : 0, "execute",
            why->execute ? 1 : 0, "depends", why->depends ? 1 : 0, "decider", why->decider, "area",
            why->area[0] ? json_text(why->area) : json_null(), "meaning", why->meaning));
    (void)printf("path:       %s\n", escaped(why->path));
    (void)printf("read:       %s\n", yes_no(why->read));
    (void)printf("write:      %s\n", !why->depends ? yes_no(why->write)
                                     : why->write  ? "yes, what is there"
                                                   : "no, if it was there");
    (void)printf("execute:    %s\n", yes_no(why->execute));
    (void)printf("decided by: %s", escaped(why->decider));
    if (why->area[0])
        (void)printf(" %s", escaped(why->area));
    (void)printf("\nwhich is:   %s\n", escaped(why->meaning));
    return 0;
}

static int take(void *context, const struct saphan_event *event)
{
    return event->kind == SAPHAN_EVENT_WHY ? print_why(event, *(const bool *)context) : 0;
}

static int ask_why(unsigned long long leg, const char *path, bool json)
{
    struct saphan *saphan = ask_connect();
    struct saphan_error error;
    int asked;

    if (!saphan)
        return EXIT_OURS;
    asked = saphan_why(saphan, leg, path, NULL, &error);
    return ask_to_the_end(saphan, asked, &error, take, &json);
}

int verb_why(int argc, char **argv)
{
    struct options line = {.verb = "saphan why", .argc = argc, .argv = argv};
    const char *words[2] = {NULL, NULL};
    size_t n_words = 0;
    bool json = false;
    unsigned long long leg;
    char *value;
    int id;

    while ((id = options_next(&line, table, array_size(table), &value)) != OPTIONS_END) {
        if (id == OPTIONS_ERROR)
            return EXIT_OURS;
        if (id == WHY_HELP)
            return print_text(help, strlen(help));
        json = json || id == WHY_JSON;
        if (id != OPTIONS_WORD)
            continue;
        if (n_words == 2)
            return say("why: %s: wanted one leg and one path", escaped(value));
        words[n_words++] = value;
    }
    if (n_words < 2 || line.at < line.argc)
        return say("why: wanted a leg and a path: see `saphan why --help`");
    leg = options_leg(&line, words[0]);
    if (leg == 0)
        return EXIT_OURS;
    if (words[1][0] != '/' || strlen(words[1]) >= PATH_MAX)
        return say("why: %s: wanted an absolute path", escaped(words[1]));
    return ask_why(leg, words[1], json);
}
