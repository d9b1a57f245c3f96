#include "matrix_page.h"

#include "ask.h"
#include "matrix_cells.h"
#include "own.h"
#include "say.h"
#include "text.h"
#include <string.h>

const char *const matrix_limits[] = {
    "A cell is what was seen once, with this turn, of this program, on this host; the command that "
    "would show it wrong stands in it.",
    "NESTS says that the vendor did its work inside the boundary and that the boundary's own "
    "controls "
    "held; it does not say that the vendor's work was good.",
    "COLLIDES and HANGS say that the same turn worked outside of the boundary; they are no "
    "judgement of "
    "the vendor.",
    "INDETERMINATE is not a weak COLLIDES: a control failed, and the cell names it.",
    "Arms 0 to 4 are what saphand's ledger says of legs; arm 5 was run and told of by the client, "
    "as the "
    "user who measured.",
    "A model that answers otherwise may let the same program do other things.", NULL};

static int take(void *context, const struct saphan_event *event)
{
    struct matrix_page *page = context;

    if (event->kind == SAPHAN_EVENT_MACHINE)
        page->machine = json_pack("{s:o, s:o, s:o, s:o, s:I, s:o}", "host",
            json_text(event->machine.host), "kernel", json_text(event->machine.kernel),
            "distribution", json_text(event->machine.distribution), "version",
            json_text(event->machine.version), "at_ms", (json_int_t)event->machine.at_ms, "command",
            json_text(event->machine.command));
    else if (event->kind == SAPHAN_EVENT_RUNG && !event->rung.facet[0])
        (void)json_array_append_new(page->rungs,
            json_pack("{s:o, s:o, s:o, s:o}", "rung", json_text(event->rung.slug), "state",
                json_text(event->rung.state), "meaning", json_text(event->rung.meaning), "detail",
                json_text(event->rung.detail)));
    else if (event->kind == SAPHAN_EVENT_PROPERTY)
        (void)json_array_append_new(page->claims,
            json_pack("{s:o, s:o, s:o, s:o}", "claim", json_text(event->property.slug), "state",
                json_text(event->property.state), "meaning", json_text(event->property.meaning),
                "detail", json_text(event->property.detail)));
    return 0;
}

static int load_machine(struct matrix_page *page)
{
    struct saphan *saphan = ask_connect();
    struct saphan_error error;
    int r;

    if (!saphan)
        return EXIT_OURS;
    if (saphan_machine(saphan, false, NULL, &error) != 0)
        r = say("%s", error.message);
    else
        r = ask_all(saphan, take, page);
    saphan_close(saphan);
    return r == 0 && !page->machine ? say("saphand did not tell of the machine") : r;
}

int matrix_page_load(struct matrix_page *ret)
{
    int r;

    ret->rungs = json_array();
    ret->claims = json_array();
    if (!ret->rungs || !ret->claims)
        return say("out of memory");
    r = matrix_load(SAPHAN_MATRIX_NEWEST, NULL, MATRIX_ARMS, 0, &ret->cells);
    if (r == 0)
        r = matrix_sort(&ret->cells);
    if (r == 0)
        r = load_machine(ret);
    if (r != 0)
        matrix_page_done(ret);
    return r;
}

void matrix_page_done(struct matrix_page *page)
{
    json_decref(page->cells);
    json_decref(page->rungs);
    json_decref(page->claims);
    json_decref(page->machine);
    *page = (struct matrix_page){0};
}

/* ---- markdown ---- */

/* A cell of a table: no bar, no line end, no control character. */
static void put(FILE *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '|' || c == '\\' || c == '`' || c == '<' || c == '*' || c == '_')
            (void)fputc('\\', out);
        (void)fputc(c < 0x20 || c == 0x7f ? ' ' : c, out);
    }
}

/* An indented block: what a leg wrote must not become markup. */
static void put_block(FILE *out, const char *name, const char *text)
{
    if (!text[0])
        return;
    (void)fprintf(out, "\n%s:\n\n    ", name);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '\n')
            (void)fputs("\n    ", out);
        else
            (void)fputc((c < 0x20 && c != '\t') || c == 0x7f ? '?' : c, out);
    }
    (void)fputs("\n", out);
}

static void put_row(FILE *out, const json_t *cell)
{
    const char *const columns[] = {matrix_text(cell, "vendor"), matrix_text(cell, "vendor_version"),
        matrix_text(cell, "boundary"), matrix_text(cell, "sandbox"), matrix_verdict(cell),
        matrix_text(cell, "stale")[0] ? matrix_text(cell, "stale") : matrix_text(cell, "why"),
        matrix_remedy(cell)};

    for (size_t i = 0; i < array_size(columns); i++) {
        (void)fputs("| ", out);
        put(out, columns[i]);
        (void)fputc(' ', out);
    }
    (void)fputs("|\n", out);
}

static void put_evidence(FILE *out, const json_t *cell)
{
    const json_t *arm;
    size_t i;

    if (matrix_number(cell, "cell") == 0)
        return;
    (void)fprintf(out, "\n### Cell %lld: ", matrix_number(cell, "cell"));
    put(out, matrix_text(cell, "vendor"));
    (void)fputs(" in ", out);
    put(out, matrix_text(cell, "boundary"));
    (void)fprintf(out, ": %s\n\n", matrix_verdict(cell));
    put(out, matrix_text(cell, "why"));
    (void)fprintf(out, "\n\nMeasured %s on ", time_text(matrix_number(cell, "begun_ms")));
    put(out, matrix_text(cell, "host"));
    (void)fputs(", kernel ", out);
    put(out, matrix_text(cell, "kernel"));
    (void)fputs(", by ", out);
    put(out, matrix_text(cell, "user"));
    (void)fputs(", ", out);
    put(out, matrix_text(cell, "measured_by"));
    (void)fputs(".\n", out);
    put_block(out, "What would show it wrong", matrix_text(cell, "falsify"));
    json_array_foreach(json_object_get(cell, "arms"), i, arm)
    {
        (void)fprintf(out, "\n**Arm %lld, %s: %s**\n", matrix_number(arm, "arm"),
            matrix_text(arm, "name"), matrix_text(arm, "outcome"));
        put_block(out, "Ran", matrix_text(arm, "command"));
        put_block(out, "Why", matrix_text(arm, "detail"));
        put_block(out, "Wrote", matrix_text(arm, "output"));
        put_block(out, "Told", matrix_text(arm, "events"));
    }
}

static void put_machine(FILE *out, const struct matrix_page *page)
{
    const json_t *row;
    size_t i;

    (void)fputs("\n## The machine\n\n", out);
    put(out, matrix_text(page->machine, "host"));
    (void)fputs(", ", out);
    put(out, matrix_text(page->machine, "distribution"));
    (void)fputs(", kernel ", out);
    put(out, matrix_text(page->machine, "kernel"));
    (void)fprintf(out, ", measured %s; again: `%s`\n\n| claim | state | why |\n|---|---|---|\n",
        time_text(matrix_number(page->machine, "at_ms")), matrix_text(page->machine, "command"));
    json_array_foreach(page->claims, i, row)
    {
        (void)fputs("| ", out);
        put(out, matrix_text(row, "meaning"));
        (void)fprintf(out, " | %s | ", matrix_text(row, "state"));
        put(out, matrix_text(row, "detail"));
        (void)fputs(" |\n", out);
    }
    (void)fputs("\n| rung | state | what was seen |\n|---|---|---|\n", out);
    json_array_foreach(page->rungs, i, row)
    {
        (void)fprintf(out, "| %s | %s | ", matrix_text(row, "rung"), matrix_text(row, "state"));
        put(out, matrix_text(row, "detail"));
        (void)fputs(" |\n", out);
    }
}

void matrix_page_markdown(const struct matrix_page *page, FILE *out)
{
    const json_t *cell;
    size_t i;

    (void)fputs(
        "# The matrix\n\nA BLANK is that nobody looked; that is not \"no\". A stale cell is shown "
        "and never used.\n\n| vendor | version | boundary | its sandbox | verdict | why | remedy "
        "|\n|---|---|---|---|---|---|---|\n",
        out);
    json_array_foreach(page->cells, i, cell) put_row(out, cell);
    (void)fputs("\n## Evidence\n", out);
    json_array_foreach(page->cells, i, cell) put_evidence(out, cell);
    put_machine(out, page);
    (void)fputs("\n## What this cannot say\n\n", out);
    for (const char *const *limit = matrix_limits; *limit; limit++)
        (void)fprintf(out, "- %s\n", *limit);
}
