/* saphan explain: the table of reasons, which is compiled in, so that it needs no daemon. */
#include "own.h"
#include "say.h"
#include "verb_options.h"
#include "verbs.h"
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: saphan explain [REASON]\n"
    "\n"
    "Says what a reason means and what helps; without REASON, lists them all.  Needs no saphand.\n";

static const struct option table[] = {{"--help", false, 1}, {"-h", false, 1}};

static const struct {
    const char *slug, *colour, *meaning, *remedy;
} reasons[] = {
#define REASON(name, slug, colour, meaning, remedy) {slug, #colour, meaning, remedy},
#include "reasons.def"
#undef REASON
};

static int list(void)
{
    for (size_t i = 0; i < array_size(reasons); i++)
        (void)printf("%-25s %-13s %s\n", reasons[i].slug, reasons[i].colour, reasons[i].meaning);
    return fflush(stdout) != 0 ? say("standard output could not be written") : 0;
}

static int explain(const char *slug)
{
    for (size_t i = 0; i < array_size(reasons); i++) {
        if (strcmp(reasons[i].slug, slug) != 0)
            continue;
        (void)printf("%s (%s)\nmeaning: %s\nremedy:  %s\n", slug, reasons[i].colour,
            reasons[i].meaning, reasons[i].remedy);
        return fflush(stdout) != 0 ? say("standard output could not be written") : 0;
    }
    return say("explain: %s: there is no such reason: see `saphan explain`", escaped(slug));
}

int verb_explain(int argc, char **argv)
{
    struct options line = {.verb = "saphan explain", .argc = argc, .argv = argv};
    const char *slug = NULL;
    char *value;
    int id;

    while ((id = options_next(&line, table, array_size(table), &value)) != OPTIONS_END) {
        if (id == OPTIONS_ERROR)
            return EXIT_OURS;
        if (id != OPTIONS_WORD)
            return print_text(help, strlen(help));
        if (slug)
            return say("explain: %s: one reason at a time", escaped(value));
        slug = value;
    }
    return slug ? explain(slug) : list();
}
