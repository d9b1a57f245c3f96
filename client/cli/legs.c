/* saphan legs: the legs that run; with --all those that ended too. */
#include "ask.h"
#include "ending_words.h"
#include "json_leg.h"
#include "own.h"
#include "say.h"
#include "verb_options.h"
#include "verbs.h"
#include <stdio.h>
#include <string.h>

static const char help[] = "usage: saphan legs [--all] [--json]\n"
                           "\n"
                           "Lists the legs of this user that run (an operator's: everybody's).\n"
                           "\n"
                           "  --all     those that ended, too\n"
                           "  --json    one JSON object a line\n"
                           "  --help\n";

enum { LEGS_HELP = 1, LEGS_ALL, LEGS_JSON };

static const struct option table[] = {
    {"--help", false, LEGS_HELP},
    {"-h", false, LEGS_HELP},
    {"--all", false, LEGS_ALL},
    {"--json", false, LEGS_JSON},
};

struct listing {
    bool json;
    size_t count;
};

static int print_row(void *context, const struct saphan_event *event)
{
    const struct saphan_leg *leg = &event->row;
    struct listing *listing = context;
    bool over = leg->state == SAPHAN_LEG_ENDED;
    char ended[64] = "-";

    if (event->kind != SAPHAN_EVENT_LEG)
        return 0;
    if (listing->json)
        return json_line(json_leg(event));
    if (listing->count++ == 0)
        (void)printf("%8s  %-8s  %-13s  %-16s  %-12s  %-20s  %s\n", "LEG", "STATE", "VERDICT",
            "EXIT", "USER", "ASKED", "COMMAND");
    if (leg->exited)
        ending_words(true, leg->wait_status, ended, sizeof(ended));
    (void)printf("%8llu  %-8s  %-13s  %-16s  %-12s  %-20s ", (unsigned long long)event->leg,
        saphan_leg_state_name(leg->state), over ? saphan_colour_name(leg->colour) : "-", ended,
        escaped(leg->user), time_text(leg->asked_ms));
    for (size_t i = 0; leg->argv[i]; i++)
        (void)printf(" %s", escaped(leg->argv[i]));
    (void)puts(leg->cut ? " ..." : "");
    return 0;
}

static int list(bool all, bool json)
{
    struct saphan *saphan = ask_connect();
    struct listing listing = {.json = json};
    struct saphan_error error;
    int asked, status;

    if (!saphan)
        return EXIT_OURS;
    asked = saphan_legs(saphan, all, NULL, &error);
    status = ask_to_the_end(saphan, asked, &error, print_row, &listing);
    if (status == 0 && !json && listing.count == 0)
        (void)say(all ? "there are no legs" : "no leg runs");
    return status;
}

int verb_legs(int argc, char **argv)
{
    struct options line = {.verb = "saphan legs", .argc = argc, .argv = argv};
    bool all = false, json = false;
    char *value;
    int id;

    while ((id = options_next(&line, table, array_size(table), &value)) != OPTIONS_END) {
        if (id == OPTIONS_ERROR)
            return EXIT_OURS;
        if (id == OPTIONS_WORD)
            return say("legs: %s: no word is wanted here", escaped(value));
        if (id == LEGS_HELP)
            return print_text(help, strlen(help));
        all = all || id == LEGS_ALL;
        json = json || id == LEGS_JSON;
    }
    return list(all, json);
}
