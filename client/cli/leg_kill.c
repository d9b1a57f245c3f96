/* saphan leg kill: ends a leg and all that it started. */
#include "ask.h"
#include "leg_word.h"
#include "say.h"
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
    struct saphan *saphan;
    struct saphan_error error;
    int status;
    unsigned long long leg = leg_word_parse(&word, argc, argv, NULL, &status);

    if (leg == 0)
        return status;
    saphan = ask_connect();
    if (!saphan)
        return EXIT_OURS;
    if (saphan_kill(saphan, leg, NULL, &error) != 0)
        status = say("%s", error.message);
    else
        status = ask_all(saphan, NULL, NULL);
    saphan_close(saphan);
    return status;
}
