/* saphan leg: a word and a leg's number. */
#include "own.h"
#include "say.h"
#include "verbs.h"
#include <string.h>

static const char help[] =
    "usage: saphan leg show ID              its row, what it told, its verdict\n"
    "       saphan leg logs ID [--follow]   its kept output\n"
    "       saphan leg kill ID              ends it, with all it started\n"
    "       saphan leg allow ID HOST[:PORT] puts a host on the list of its door\n"
    "       saphan leg deny ID HOST[:PORT]  takes it off, and cuts what is open to it\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} words[] = {
    {"show", verb_leg_show},
    {"logs", verb_leg_logs},
    {"kill", verb_leg_kill},
    {"allow", verb_leg_allow},
    {"deny", verb_leg_deny},
};

int verb_leg(int argc, char **argv)
{
    if (argc < 1)
        return say("leg: wanted show, logs, kill, allow or deny: see `saphan leg --help`");
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)
        return print_text(help, strlen(help));
    for (size_t i = 0; i < array_size(words); i++) {
        if (strcmp(argv[0], words[i].name) == 0)
            return words[i].run(argc - 1, argv + 1);
    }
    return say("leg: %s: wanted show, logs, kill, allow or deny", escaped(argv[0]));
}
