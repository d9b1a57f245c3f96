#include "verb_options.h"

#include "say.h"
#include "text.h"
#include <string.h>

static int options_failed(const struct options *options, const char *what, const char *word)
{
    (void)say("%s: %s: see `%s --help`", what, escaped(word), options->verb);
    return OPTIONS_ERROR;
}

int options_next(
    struct options *options, const struct option *table, size_t n_table, char **ret_value)
{
    char *word, *equals;
    size_t length;

    *ret_value = NULL;
    if (options->at >= options->argc)
        return OPTIONS_END;
    word = options->argv[options->at++];
    if (strcmp(word, "--") == 0) {
        options->ended = true;
        return OPTIONS_END;
    }
    if (word[0] != '-' || !word[1]) {
        *ret_value = word;
        return OPTIONS_WORD;
    }
    equals = strchr(word, '=');
    length = equals ? (size_t)(equals - word) : strlen(word);
    for (size_t i = 0; i < n_table; i++) {
        if (strlen(table[i].name) != length || strncmp(table[i].name, word, length) != 0)
            continue;
        if (!table[i].value)
            return equals ? options_failed(options, "this option takes no value", word)
                          : table[i].id;
        if (!equals && options->at >= options->argc)
            return options_failed(options, "this option wants a value", word);
        *ret_value = equals ? equals + 1 : options->argv[options->at++];
        return table[i].id;
    }
    return options_failed(options, "unknown option", word);
}

unsigned long long options_leg(const struct options *options, const char *text)
{
    uint64_t leg;

    if (text_parse_uint(text, INT64_MAX, &leg) < 0 || leg == 0) {
        (void)options_failed(options, "a leg is named by its number", text);
        return 0;
    }
    return leg;
}
