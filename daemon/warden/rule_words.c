#include "rule_words.h"

#include <stdio.h>
#include <string.h>

static void append(char *text, size_t size, const char *word)
{
    size_t at = strlen(text);

    if (at + strlen(word) + 6 >= size) {
        if (at + 5 < size && (at < 3 || strcmp(text + at - 3, "...") != 0))
            (void)snprintf(text + at, size - at, " ...");
        return;
    }
    (void)snprintf(text + at, size - at, "%s%s", at ? " " : "", word);
}

static void append_list(char *text, size_t size, char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        append(text, size, words[i]);
}

static void append_limits(char *text, size_t size, const struct limits *ceiling)
{
    for (int i = 0; i < LIMIT_COUNT; i++) {
        uint64_t value = limits_get(ceiling, (enum limit_id)i);
        char word[48];

        if (value == 0)
            continue;
        (void)snprintf(word, sizeof(word), "%s<=%llu%s", limit_name((enum limit_id)i),
            (unsigned long long)value,
            i == LIMIT_WALL  ? "ms"
            : i == LIMIT_CPU ? "%"
                             : "");
        append(text, size, word);
    }
}

void rule_words(const struct rule *rule, struct rule_words *ret)
{
    memset(ret, 0, sizeof(*ret));
    for (uint32_t i = 1; i < 8; i++) {
        if (rule->boundaries & 1U << i)
            append(ret->boundaries, sizeof(ret->boundaries), boundary_name((enum boundary)i));
        if (rule->views & 1U << i)
            append(ret->views, sizeof(ret->views), view_name((enum view)i));
        if (rule->nets & 1U << i)
            append(ret->nets, sizeof(ret->nets), net_name((enum net)i));
    }
    append_list(ret->vendors, sizeof(ret->vendors), rule->vendors, rule->n_vendors);
    append_list(ret->read, sizeof(ret->read), rule->read_ceilings, rule->n_read_ceilings);
    append_list(ret->write, sizeof(ret->write), rule->write_ceilings, rule->n_write_ceilings);
    append_list(ret->hosts, sizeof(ret->hosts), rule->hosts, rule->n_hosts);
    if (rule->capabilities)
        capabilities_format(rule->capabilities, ret->capabilities);
    append_limits(ret->limits, sizeof(ret->limits), &rule->ceiling);
}
