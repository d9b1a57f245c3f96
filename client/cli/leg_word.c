#include "leg_word.h"

#include "ask.h"
#include "own.h"
#include "say.h"
#include "verb_options.h"
#include <string.h>

enum { WORD_HELP = 1, WORD_FOLLOW };

static const struct option table[] = {
    {"--help", false, WORD_HELP},
    {"-h", false, WORD_HELP},
    {"--follow", false, WORD_FOLLOW},
};

unsigned long long leg_word_parse(
    const struct leg_word *word, int argc, char **argv, bool *ret_follow, int *ret_status)
{
    struct options line = {.verb = word->verb, .argc = argc, .argv = argv};
    size_t n_table = word->may_follow ? array_size(table) : array_size(table) - 1;
    const char *number = NULL;
    bool follow = false;
    char *value;
    int id;

    *ret_status = EXIT_OURS;
    while ((id = options_next(&line, table, n_table, &value)) != OPTIONS_END) {
        if (id == OPTIONS_ERROR)
            return 0;
        if (id == WORD_HELP) {
            *ret_status = print_text(word->help, strlen(word->help));
            return 0;
        }
        follow = follow || id == WORD_FOLLOW;
        if (id == OPTIONS_WORD && number) {
            (void)say("%s: %s: wanted one leg", word->verb, escaped(value));
            return 0;
        }
        if (id == OPTIONS_WORD)
            number = value;
    }
    if (!number || line.at < line.argc) {
        (void)say("%s: wanted the number of one leg: see `saphan legs --all`", word->verb);
        return 0;
    }
    if (ret_follow)
        *ret_follow = follow;
    return options_leg(&line, number);
}

int leg_word_ask(const struct leg_word *word, int argc, char **argv,
    int (*request)(
        struct saphan *saphan, uint64_t leg, uint64_t *ret_request, struct saphan_error *error),
    int (*take)(void *context, const struct saphan_event *event))
{
    struct saphan *saphan;
    struct saphan_error error;
    int asked, status;
    unsigned long long leg = leg_word_parse(word, argc, argv, NULL, &status);

    if (leg == 0)
        return status;
    saphan = ask_connect();
    if (!saphan)
        return EXIT_OURS;
    asked = request(saphan, leg, NULL, &error);
    return ask_to_the_end(saphan, asked, &error, take, NULL);
}
