/* saphan leg kill: ends a leg and all that it started. */
#include "leg_word.h"
#include "verbs.h"

static const struct leg_word word = {
    .verb = "saphan leg kill",
    .help =
        "usage: saphan leg kill ID\n"
        "\n"
        "Ends the leg and all that it started, at once.  Its verdict is RED killed-by-request.\n",
};

int verb_leg_kill(int argc, char **argv)
{
    return leg_word_ask(&word, argc, argv, saphan_kill, NULL);
}
