/* saphan leg allow, saphan leg deny: the list of a running leg's door. */
#include "ask.h"
#include "leg_word.h"
#include "say.h"
#include "verbs.h"

static const struct leg_word allow = {
    .verb = "saphan leg allow",
    .help = "usage: saphan leg allow ID HOST[:PORT]\n"
            "\n"
            "Lets a running leg with --net door reach HOST too, within the policy's ceiling.\n",
};

static const struct leg_word deny = {
    .verb = "saphan leg deny",
    .help = "usage: saphan leg deny ID HOST[:PORT]\n"
            "\n"
            "Takes HOST, and what HOST covers, off the list of a running leg's door, and cuts the\n"
            "connections that nothing on the list lets any more.\n",
};

static int change(const struct leg_word *word, int argc, char **argv)
{
    const char *host = argc == 2 ? argv[1] : NULL;
    struct saphan *saphan;
    struct saphan_error error;
    int asked, status;
    unsigned long long leg = leg_word_parse(word, host ? 1 : argc, argv, NULL, &status);

    if (leg == 0)
        return status;
    if (!host)
        return say("%s: wanted a leg and a host: ID HOST[:PORT]", word->verb);
    saphan = ask_connect();
    if (!saphan)
        return EXIT_OURS;
    asked = saphan_change_door(saphan, leg, word == &allow, host, NULL, &error);
    return ask_to_the_end(saphan, asked, &error, NULL, NULL);
}

int verb_leg_allow(int argc, char **argv)
{
    return change(&allow, argc, argv);
}

int verb_leg_deny(int argc, char **argv)
{
    return change(&deny, argc, argv);
}
