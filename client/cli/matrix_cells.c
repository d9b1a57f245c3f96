#include "matrix_cells.h"

#include "ask.h"
#include "own.h"
#include "say.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t at;
} cell_fields[] = {
#define CELL_TEXT(name, max) {#name, offsetof(struct saphan_cell, name)},
#include "cell_texts.def"
#undef CELL_TEXT
};

static const struct {
    const char *name, *meaning;
} arms[] = {
    {"echo", "/bin/echo in the same boundary"},
    {"write", "a write inside the grant, read back from outside"},
    {"outside", "a write outside of the grants is refused"},
    {"grandchild", "the same write from a grandchild, two execs down"},
    {"turn", "the vendor's turn inside the boundary, its artefact checked"},
    {"control", "the same turn outside of it, the vendor's own sandbox on"},
};

const char *matrix_arm_name(unsigned int arm)
{
    return arm < array_size(arms) ? arms[arm].name : "?";
}

const char *matrix_arm_meaning(unsigned int arm)
{
    return arm < array_size(arms) ? arms[arm].meaning : "?";
}

/* Of a cell in a table. */
static bool is_shown(const char *field)
{
    static const char *const shown[] = {
        "vendor", "vendor_version", "boundary", "sandbox", "why", "stale"};

    for (size_t i = 0; i < array_size(shown); i++) {
        if (strcmp(field, shown[i]) == 0)
            return true;
    }
    return false;
}

json_t *matrix_cell(const struct saphan_cell *cell, bool brief)
{
    json_t *object = json_pack("{s:I, s:s, s:b, s:i, s:I, s:I, s:b}", "cell",
        (json_int_t)cell->cell, "verdict", cell->verdict, "silent", cell->silent ? 1 : 0, "arm",
        (int)cell->arm, "begun_ms", (json_int_t)cell->begun_ms, "ended_ms",
        (json_int_t)cell->ended_ms, "newest", cell->newest ? 1 : 0);

    for (size_t i = 0; object && i < array_size(cell_fields); i++) {
        const char *text;

        if (brief && !is_shown(cell_fields[i].name))
            continue;
        memcpy(&text, (const char *)cell + cell_fields[i].at, sizeof(text));
        (void)json_object_set_new(object, cell_fields[i].name, json_text(text));
    }
    if (object && !brief)
        (void)json_object_set_new(object, "arms", json_array());
    return object;
}

json_t *matrix_arm(const struct saphan_arm *arm)
{
    return json_pack("{s:i, s:s, s:s, s:I, s:i, s:I, s:I, s:o, s:o, s:o, s:o}", "arm",
        (int)arm->arm, "name", matrix_arm_name(arm->arm), "outcome", arm->outcome, "leg",
        (json_int_t)arm->leg, "status", arm->status, "begun_ms", (json_int_t)arm->begun_ms,
        "ended_ms", (json_int_t)arm->ended_ms, "command", json_text(arm->command), "detail",
        json_text(arm->detail), "output", json_text(arm->output), "events", json_text(arm->events));
}

/* ---- loading ---- */

struct loading {
    json_t *cells;
    bool brief;
    uint64_t more; /* of the END */
};

static int take(void *context, const struct saphan_event *event)
{
    struct loading *loading = context;
    json_t *last;

    if (event->kind == SAPHAN_EVENT_CELL) {
        (void)json_array_append_new(loading->cells, matrix_cell(&event->cell, loading->brief));
    } else if (event->kind == SAPHAN_EVENT_ARM) {
        last = json_array_get(loading->cells, json_array_size(loading->cells) - 1);
        (void)json_array_append_new(json_object_get(last, "arms"), matrix_arm(&event->arm));
    }
    return 0;
}

/* As ask_all(), with the value of the END. */
static int hear(struct saphan *saphan, struct loading *loading)
{
    struct saphan_event event;
    struct saphan_error error;

    for (;;) {
        if (saphan_next(saphan, -1, NULL, &event, &error) != 0)
            return say("%s", error.message);
        if (event.kind == SAPHAN_EVENT_REFUSED)
            return event.refused.n_reasons > 0
                       ? say("%s: %s: %s", escaped(event.refused.reasons[0].slug),
                             escaped(event.refused.reasons[0].detail),
                             escaped(event.refused.reasons[0].remedy))
                       : say("refused");
        if (event.kind == SAPHAN_EVENT_END) {
            loading->more = event.value;
            return 0;
        }
        (void)take(loading, &event);
    }
}

int matrix_load(enum saphan_matrix_what what, const char *vendor, enum matrix_detail detail,
    uint64_t cell, json_t **ret)
{
    struct saphan *saphan = ask_connect();
    bool with_arms = detail == MATRIX_ARMS;
    struct loading loading = {.cells = json_array(), .brief = detail == MATRIX_BRIEF, .more = cell};
    struct saphan_error error;
    int status = saphan && loading.cells ? 0 : EXIT_OURS;

    while (status == 0) {
        if (saphan_matrix(saphan, what, vendor, with_arms, loading.more, NULL, &error) != 0)
            status = say("%s", error.message);
        else
            status = hear(saphan, &loading);
        if (status == 0 && loading.more == 0)
            break;
    }
    saphan_close(saphan);
    if (status != 0) {
        json_decref(loading.cells);
        return status;
    }
    *ret = loading.cells;
    return 0;
}

/* A cell with what it is sorted by: looked up once, not at each comparison. */
struct sorted {
    const char *keys[4];
    json_t *cell;
};

static int compare(const void *a, const void *b)
{
    const struct sorted *one = a, *other = b;
    int r = 0;

    for (size_t i = 0; i < array_size(one->keys) && r == 0; i++)
        r = strcmp(one->keys[i], other->keys[i]);
    return r;
}

int matrix_sort(json_t **cells)
{
    size_t count = json_array_size(*cells);
    auto_free struct sorted *rows = calloc(count + 1, sizeof(*rows));
    json_t *sorted = json_array();

    for (size_t i = 0; rows && i < count; i++) {
        json_t *cell = json_array_get(*cells, i);

        rows[i] =
            (struct sorted){{matrix_text(cell, "vendor"), matrix_text(cell, "boundary"),
                                matrix_text(cell, "sandbox"), matrix_text(cell, "vendor_version")},
                cell};
    }
    if (rows)
        qsort(rows, count, sizeof(*rows), compare);
    for (size_t i = 0; rows && sorted && i < count; i++)
        (void)json_array_append(sorted, rows[i].cell);
    json_decref(*cells);
    *cells = rows ? sorted : NULL;
    if (rows && sorted)
        return 0;
    json_decref(rows ? NULL : sorted);
    return say("out of memory");
}

/* ---- words ---- */

const char *matrix_text(const json_t *object, const char *field)
{
    const json_t *value = json_object_get(object, field);

    return json_is_string(value)   ? json_string_value(value)
           : json_is_object(value) ? "(bytes that are not UTF-8)"
                                   : "";
}

long long matrix_number(const json_t *object, const char *field)
{
    return (long long)json_integer_value(json_object_get(object, field));
}

const char *matrix_verdict(const json_t *cell)
{
    const char *verdict = matrix_text(cell, "verdict");
    bool stale = matrix_text(cell, "stale")[0] != '\0';

    if (strcmp(verdict, "BLANK") == 0)
        return "BLANK";
    if (json_is_true(json_object_get(cell, "silent")))
        return stale ? "COLLIDES SILENTLY (stale)" : "COLLIDES SILENTLY";
    if (!stale)
        return verdict;
    return strcmp(verdict, "NESTS") == 0      ? "NESTS (stale)"
           : strcmp(verdict, "COLLIDES") == 0 ? "COLLIDES (stale)"
           : strcmp(verdict, "HANGS") == 0    ? "HANGS (stale)"
                                              : "INDETERMINATE (stale)";
}

const char *matrix_remedy(const json_t *cell)
{
    const char *verdict = matrix_text(cell, "verdict");

    if (strcmp(verdict, "BLANK") == 0)
        return "nobody looked, which is not \"no\": measure it";
    if (matrix_text(cell, "origin")[0])
        return "it was measured on another host: measure it on this one";
    if (matrix_text(cell, "stale")[0])
        return "it says nothing of what is here now: measure it again";
    if (strcmp(verdict, "NESTS") == 0)
        return "none is needed";
    if (strcmp(verdict, "COLLIDES") == 0 && strcmp(matrix_text(cell, "boundary"), "container") == 0)
        return "turn the vendor's own sandbox off; or let it build one (Nested=allow, --user) and "
               "see "
               "that what it makes in the workspace is not carved out";
    if (strcmp(verdict, "COLLIDES") == 0)
        return "turn the vendor's own sandbox off inside the domain, or use the container boundary";
    if (strcmp(verdict, "HANGS") == 0)
        return "give its legs a wall time, and turn off what it waits for";
    return "mend the control that failed, then measure it again";
}

static bool is_plain(const char *word)
{
    return word[0] && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789_-./:=,@%+")] == '\0';
}

char *matrix_quote(const char *const *words, size_t count)
{
    size_t size = 1, at = 0;
    char *out;

    for (size_t i = 0; i < count; i++)
        size += 4 * strlen(words[i]) + 3;
    out = malloc(size);
    for (size_t i = 0; out && i < count; i++) {
        const char *word = words[i];

        if (i)
            out[at++] = ' ';
        if (is_plain(word)) {
            memcpy(out + at, word, strlen(word));
            at += strlen(word);
            continue;
        }
        out[at++] = '\'';
        for (; *word; word++) {
            if (*word != '\'') {
                out[at++] = *word;
                continue;
            }
            memcpy(out + at, "'\\''", 4);
            at += 4;
        }
        out[at++] = '\'';
    }
    if (out)
        out[at] = '\0';
    return out;
}
