/* saphan matrix show, history: cells for people, or as JSON. */
#include "matrix_cells.h"
#include "matrix_verbs.h"
#include "own.h"
#include "say.h"
#include "text.h"
#include "verb_options.h"
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: saphan matrix show [--json] [--vendor V] [CELL]\n"
    "       saphan matrix history [--json] [--vendor V]\n"
    "\n"
    "show: the newest cell of each vendor, version, boundary, state of its sandbox and host, and "
    "the\n"
    "blanks; with a number, that cell with its arms.  history: all cells, the oldest first.\n"
    "Ends with 0 when it could be said.\n";

enum { SHOW_HELP = 1, SHOW_JSON, SHOW_VENDOR };
static const struct option table[] = {{"--help", false, SHOW_HELP}, {"-h", false, SHOW_HELP},
    {"--json", false, SHOW_JSON}, {"--vendor", true, SHOW_VENDOR}};

/* A command is to be pasted as it stands: only what could steer a terminal is escaped. */
static const char *shown(const char *text)
{
    for (const char *at = text; *at; at++) {
        if ((unsigned char)*at < 0x20 || (unsigned char)*at > 0x7e)
            return escaped(text);
    }
    return text;
}

static void field(const char *name, const char *value)
{
    if (value[0])
        (void)printf("%-14s %s\n", name, shown(value));
}

static void print_lines(const char *name, const char *text)
{
    auto_free char *copy = strdup(text);
    char *rest = NULL;
    int n = 0;

    for (char *line = copy ? strtok_r(copy, "\n", &rest) : NULL; line && n < 12;
         line = strtok_r(NULL, "\n", &rest), n++)
        (void)printf("     %-8s %s\n", n == 0 ? name : "", shown(line));
}

static void print_arm(const json_t *arm)
{
    long long begun = matrix_number(arm, "begun_ms"), ended = matrix_number(arm, "ended_ms");
    long long leg = matrix_number(arm, "leg");

    (void)printf("%lld %-11s %-19s", matrix_number(arm, "arm"), matrix_text(arm, "name"),
        matrix_text(arm, "outcome"));
    if (begun > 0 && ended >= begun)
        (void)printf(" %6lld ms", ended - begun);
    if (leg > 0)
        (void)printf("  leg %lld", leg);
    (void)putchar('\n');
    print_lines("ran", matrix_text(arm, "command"));
    print_lines("why", matrix_text(arm, "detail"));
    print_lines("wrote", matrix_text(arm, "output"));
    print_lines("told", matrix_text(arm, "events"));
}

void matrix_print_cell(const json_t *cell)
{
    const json_t *arm;
    size_t i;

    (void)printf("%-14s %lld: %s\n", "cell", matrix_number(cell, "cell"), matrix_verdict(cell));
    field("why", matrix_text(cell, "why"));
    field("stale", matrix_text(cell, "stale"));
    field("remedy", matrix_remedy(cell));
    field("vendor", matrix_text(cell, "vendor"));
    field("version", matrix_text(cell, "vendor_version"));
    field("program", matrix_text(cell, "program"));
    field("sha256", matrix_text(cell, "sha256"));
    field("identity", matrix_text(cell, "identity"));
    field("boundary", matrix_text(cell, "boundary"));
    field("its sandbox", matrix_text(cell, "sandbox"));
    field("host", matrix_text(cell, "host"));
    field("kernel", matrix_text(cell, "kernel"));
    field("distribution", matrix_text(cell, "distribution"));
    field("saphan", matrix_text(cell, "saphan"));
    field("enclosure", matrix_text(cell, "enclosure"));
    field("walls", matrix_text(cell, "walls"));
    field("measured", time_text(matrix_number(cell, "begun_ms")));
    field("by", matrix_text(cell, "user"));
    field("how", matrix_text(cell, "measured_by"));
    field("origin", matrix_text(cell, "origin"));
    field("falsify", matrix_text(cell, "falsify"));
    json_array_foreach(json_object_get(cell, "arms"), i, arm) print_arm(arm);
}

static void print_row(const json_t *cell)
{
    (void)printf("%6lld  %-14s %-22s %-10s %-5s %-27s %s\n", matrix_number(cell, "cell"),
        escaped(matrix_text(cell, "vendor")), escaped(matrix_text(cell, "vendor_version")),
        escaped(matrix_text(cell, "boundary")), escaped(matrix_text(cell, "sandbox")),
        matrix_verdict(cell),
        matrix_number(cell, "cell") == 0 ? "nobody looked"
        : matrix_text(cell, "stale")[0]  ? escaped(matrix_text(cell, "stale"))
                                         : escaped(matrix_text(cell, "why")));
}

static void print_table(const json_t *cells)
{
    const json_t *cell;
    size_t i;

    (void)printf("%6s  %-14s %-22s %-10s %-5s %-27s %s\n", "cell", "vendor", "version", "boundary",
        "its", "verdict", "why");
    json_array_foreach(cells, i, cell) print_row(cell);
    (void)printf(
        "BLANK: nobody looked, which is not \"no\".  its: the vendor's own sandbox.  `saphan "
        "matrix show CELL`: the evidence.\n");
}

static int print_json(const json_t *cells)
{
    const json_t *cell;
    size_t i;

    json_array_foreach(cells, i, cell)
    {
        json_t *line = json_pack("{s:s, s:s}", "schema", JSON_SCHEMA_MATRIX, "event", "cell");
        int r;

        if (line)
            (void)json_object_update(line, (json_t *)(uintptr_t)cell);
        r = json_line(line);
        if (r != 0)
            return r;
    }
    return 0;
}

static int show(enum saphan_matrix_what what, const char *vendor, uint64_t cell, bool json)
{
    json_t *cells = NULL;
    int r = matrix_load(what, vendor,
        what == SAPHAN_MATRIX_ONE ? MATRIX_ARMS
        : json                    ? MATRIX_CELLS
                                  : MATRIX_BRIEF,
        cell, &cells);

    if (r == 0 && what == SAPHAN_MATRIX_NEWEST && !json)
        r = matrix_sort(&cells);
    if (r != 0)
        return r;
    if (json)
        r = print_json(cells);
    else if (what == SAPHAN_MATRIX_ONE)
        matrix_print_cell(json_array_get(cells, 0));
    else
        print_table(cells);
    json_decref(cells);
    if (fflush(stdout) != 0 && r == 0)
        return say("standard output could not be written");
    return r;
}

static int parse(enum saphan_matrix_what what, const char *verb, int argc, char **argv)
{
    struct options line = {.verb = verb, .argc = argc, .argv = argv};
    const char *vendor = NULL;
    uint64_t cell = 0;
    bool json = false;
    char *value;
    int id;

    while ((id = options_next(&line, table, array_size(table), &value)) != OPTIONS_END) {
        if (id == OPTIONS_ERROR)
            return EXIT_OURS;
        if (id == SHOW_HELP)
            return print_text(help, strlen(help));
        json = json || id == SHOW_JSON;
        if (id == SHOW_VENDOR)
            vendor = value;
        if (id != OPTIONS_WORD)
            continue;
        if (what == SAPHAN_MATRIX_HISTORY || cell != 0 ||
            text_parse_uint(value, INT64_MAX, &cell) < 0 || cell == 0)
            return say("%s: %s: a cell is named by its number", verb, escaped(value));
    }
    return show(cell ? SAPHAN_MATRIX_ONE : what, vendor, cell, json);
}

int verb_matrix_show(int argc, char **argv)
{
    return parse(SAPHAN_MATRIX_NEWEST, "saphan matrix show", argc, argv);
}

int verb_matrix_history(int argc, char **argv)
{
    return parse(SAPHAN_MATRIX_HISTORY, "saphan matrix history", argc, argv);
}
