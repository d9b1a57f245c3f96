/* saphan matrix export, import: cells between hosts.  An imported cell informs and never admits.
 *
 * One JSON object a line: {"schema", "origin", "cell": {...}, "sha256"}.  The hash is that of the
 * object {"cell", "origin"} written compactly with sorted keys: it finds what was damaged on the
 * way; it is no signature. */
#include "ask.h"
#include "matrix_cells.h"
#include "matrix_verbs.h"
#include "own.h"
#include "say.h"
#include "text.h"
#include "verb_options.h"
#include <sha2.h>
#include <stdio.h>
#include <string.h>

#define SCHEMA "saphan.cells/1"
#define LINE_MAX_BYTES (1024 * 1024)

static const char export_help[] =
    "usage: saphan matrix export [--vendor V]\n"
    "\n"
    "Writes all ended cells that were measured on this host, with their arms, one JSON object a "
    "line.\n";
static const char import_help[] =
    "usage: saphan matrix import [FILE]\n"
    "\n"
    "Takes over what another host exported, from FILE or standard input, for whom the policy lets\n"
    "measure.  Each line's hash must be right; the first that is not ends it.  Imported cells "
    "inform\n"
    "and never admit.\n";

/* 0 or -ENOMEM. */
static int hash_of(const char *origin, const json_t *cell, char out[65])
{
    json_t *whole = json_pack("{s:s, s:O}", "origin", origin, "cell", cell);
    auto_free char *text = whole ? json_dumps(whole, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    uint8_t digest[32];
    SHA2_CTX context;

    json_decref(whole);
    if (!text)
        return -1;
    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)text, strlen(text));
    SHA256Final(digest, &context);
    text_format_sha256(digest, out);
    return 0;
}

static int export_one(json_t *cell)
{
    auto_free char *origin = strdup(matrix_text(cell, "host"));
    char hash[65];

    if (matrix_text(cell, "origin")[0] || matrix_number(cell, "ended_ms") == 0)
        return 0;
    (void)json_object_del(cell, "stale");
    (void)json_object_del(cell, "newest");
    (void)json_object_del(cell, "hash");
    if (!origin || hash_of(origin, cell, hash) < 0)
        return say("out of memory");
    return json_line(json_pack(
        "{s:s, s:s, s:O, s:s}", "schema", SCHEMA, "origin", origin, "cell", cell, "sha256", hash));
}

int verb_matrix_export(int argc, char **argv)
{
    static const struct option table[] = {
        {"--help", false, 1}, {"-h", false, 1}, {"--vendor", true, 2}};
    struct options line = {.verb = "saphan matrix export", .argc = argc, .argv = argv};
    const char *vendor = NULL;
    json_t *cells = NULL, *cell;
    char *value;
    size_t i;
    int id, r;

    while ((id = options_next(&line, table, array_size(table), &value)) != OPTIONS_END) {
        if (id == OPTIONS_WORD)
            return say("export: %s: no word is wanted here", escaped(value));
        if (id == OPTIONS_ERROR)
            return EXIT_OURS;
        if (id == 1)
            return print_text(export_help, strlen(export_help));
        vendor = value;
    }
    r = matrix_load(SAPHAN_MATRIX_HISTORY, vendor, MATRIX_ARMS, 0, &cells);
    if (r != 0)
        return r;
    json_array_foreach(cells, i, cell)
    {
        r = export_one(cell);
        if (r != 0)
            break;
    }
    json_decref(cells);
    return r;
}

/* ---- import ---- */

static int await(struct saphan *saphan, uint64_t *ret_value)
{
    struct saphan_event event;
    struct saphan_error error;

    for (;;) {
        if (saphan_next(saphan, -1, NULL, &event, &error) != 0)
            return say("%s", error.message);
        if (event.kind == SAPHAN_EVENT_REFUSED && event.refused.n_reasons > 0)
            return say("import: %s: %s: %s", escaped(event.refused.reasons[0].slug),
                escaped(event.refused.reasons[0].detail), escaped(event.refused.reasons[0].remedy));
        if (event.kind == SAPHAN_EVENT_END) {
            *ret_value = event.value;
            return 0;
        }
    }
}

static void fill_cell(
    const json_t *from, const char *origin, const char *hash, struct saphan_cell *ret)
{
    static const struct {
        const char *name;
        size_t at;
    } fields[] = {
#define CELL_TEXT(name, max) {#name, offsetof(struct saphan_cell, name)},
#include "cell_texts.def"
#undef CELL_TEXT
    };

    *ret = (struct saphan_cell){.verdict = matrix_text(from, "verdict"),
        .silent = json_is_true(json_object_get(from, "silent")),
        .arm = (unsigned int)matrix_number(from, "arm"),
        .begun_ms = matrix_number(from, "begun_ms"),
        .ended_ms = matrix_number(from, "ended_ms")};
    for (size_t i = 0; i < array_size(fields); i++) {
        const char *text = matrix_text(from, fields[i].name);

        memcpy((char *)ret + fields[i].at, &text, sizeof(text));
    }
    ret->origin = origin;
    ret->hash = hash;
}

static int import_arm(struct saphan *saphan, uint64_t cell, const json_t *from)
{
    struct saphan_arm arm = {.cell = cell,
        .arm = (unsigned int)matrix_number(from, "arm"),
        .outcome = matrix_text(from, "outcome"),
        .status = (int)matrix_number(from, "status"),
        .begun_ms = matrix_number(from, "begun_ms"),
        .ended_ms = matrix_number(from, "ended_ms"),
        .command = matrix_text(from, "command"),
        .detail = matrix_text(from, "detail"),
        .output = matrix_text(from, "output"),
        .events = matrix_text(from, "events")};
    struct saphan_error error;
    uint64_t value;

    if (saphan_arm(saphan, SAPHAN_STEP_IMPORT, &arm, NULL, NULL, &error) != 0)
        return say("%s", error.message);
    return await(saphan, &value);
}

static int import_cell(struct saphan *saphan, const json_t *line, unsigned long number)
{
    const json_t *from = json_object_get(line, "cell"), *arms = json_object_get(from, "arms"), *arm;
    const char *origin = matrix_text(line, "origin"), *hash = matrix_text(line, "sha256");
    struct saphan_cell cell;
    struct saphan_error error;
    char found[65];
    uint64_t id;
    size_t i;
    int r;

    if (strcmp(matrix_text(line, "schema"), SCHEMA) != 0 || !json_is_object(from) ||
        !json_is_array(arms) || !origin[0] || matrix_number(from, "ended_ms") <= 0)
        return say("import: line %lu: no cell of the schema " SCHEMA, number);
    if (hash_of(origin, from, found) < 0 || strcmp(found, hash) != 0)
        return say("import: line %lu: its hash is wrong: it was changed on the way; nothing of it "
                   "was taken over",
            number);
    fill_cell(from, origin, hash, &cell);
    if (saphan_cell(saphan, SAPHAN_STEP_IMPORT, &cell, NULL, &error) != 0)
        return say("%s", error.message);
    r = await(saphan, &id);
    json_array_foreach(arms, i, arm)
    {
        if (r == 0)
            r = import_arm(saphan, id, arm);
    }
    return r;
}

static int import_all(FILE *file)
{
    struct saphan *saphan = ask_connect();
    auto_free char *text = NULL;
    size_t capacity = 0;
    unsigned long number = 0;
    ssize_t length;
    int r = saphan ? 0 : EXIT_OURS;

    while (r == 0 && (length = getline(&text, &capacity, file)) > 0) {
        json_error_t where;
        json_t *line = length > LINE_MAX_BYTES
                           ? NULL
                           : json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &where);

        number++;
        r = line ? import_cell(saphan, line, number)
                 : say("import: line %lu: no JSON object, or longer than a cell is", number);
        json_decref(line);
    }
    saphan_close(saphan);
    if (r == 0)
        (void)printf("%lu cells were taken over; they inform and never admit\n", number);
    return r;
}

int verb_matrix_import(int argc, char **argv)
{
    static const struct option table[] = {{"--help", false, 1}, {"-h", false, 1}};
    struct options line = {.verb = "saphan matrix import", .argc = argc, .argv = argv};
    const char *path = NULL;
    FILE *file = stdin;
    char *value;
    int id, r;

    while ((id = options_next(&line, table, array_size(table), &value)) != OPTIONS_END) {
        if (id == OPTIONS_ERROR)
            return EXIT_OURS;
        if (id == 1)
            return print_text(import_help, strlen(import_help));
        if (path)
            return say("import: %s: one file is wanted", escaped(value));
        path = value;
    }
    if (path && strcmp(path, "-") != 0)
        file = fopen(path, "re");
    if (!file)
        return say("import: %s cannot be opened: %m", escaped(path));
    r = import_all(file);
    if (file != stdin)
        (void)fclose(file);
    if (fflush(stdout) != 0 && r == 0)
        return say("standard output could not be written");
    return r;
}
