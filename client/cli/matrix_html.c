/* matrix_html.c - the report as one page: nothing is fetched, nothing is run; what a leg wrote is
 * text. */
#include "matrix_cells.h"
#include "matrix_page.h"
#include "own.h"
#include "say.h"
#include <string.h>

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>saphan: the "
    "matrix</title>\n<style>\n"
    ":root{--bg:#fff;--fg:#1a1c1e;--dim:#565c63;--line:#d5d9dd;--card:#f6f7f8;--good:#12662f;"
    "--bad:#a31515;--warn:#7a4d00;--blank:#5f656b}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e6e8ea;--dim:#a2a9b0;"
    "--line:#353b41;--card:#1c2024;--good:#6fd58f;--bad:#ff8f85;--warn:#f0bf5a;--blank:#a2a9b0}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:72rem;padding:1.25rem;background:var(--bg);color:var(--fg);"
    "font:1rem/1.5 system-ui,sans-serif}\n"
    "h1{font-size:1.6rem;margin:0 0 .25rem}\n"
    "h2{font-size:1.2rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line)}\n"
    "p{margin:.4rem 0}.dim{color:var(--dim)}a{color:inherit}\n"
    "pre{font:.875rem/1.45 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere;"
    "background:var(--bg);border:1px solid "
    "var(--line);border-radius:4px;padding:.5rem;margin:.25rem "
    "0}\n"
    "table{border-collapse:collapse;width:100%}\n"
    "th,td{text-align:left;vertical-align:top;padding:.35rem 1rem .35rem 0;border-bottom:1px solid "
    "var(--line)}\n"
    "th{font-weight:600;color:var(--dim);white-space:nowrap}td,p,li,summary{overflow-wrap:anywhere}"
    "\n"
    "td.short{white-space:nowrap}td:nth-child(3){min-width:5.5rem}td:nth-child(7){min-width:12rem}"
    "td.v{overflow-wrap:normal}td.v span{font-weight:700}\n"
    ".NESTS,.holds,.held{color:var(--good)}\n"
    ".COLLIDES,.HANGS,.refused,.failed,.SILENT,.hung,.without-its-sandbox{color:var(--bad)}\n"
    ".INDETERMINATE,.broken,.lost,.running{color:var(--warn)}\n"
    ".BLANK,.blank,.never-asked,.absent,.unrunnable{color:var(--blank)}\n"
    "td.BLANK span{font-weight:400;font-style:italic}td.stale span{text-decoration:line-through;"
    "text-decoration-thickness:1px}\n"
    ".grid{table-layout:fixed;margin:.75rem 0 1.5rem}.grid "
    "caption{text-align:left;color:var(--dim);"
    "padding-bottom:.4rem}.grid th,.grid td{border:1px solid var(--line);padding:.4rem "
    ".35rem;text-align:center;overflow-wrap:anywhere;white-space:normal;font-size:.875rem}.grid "
    "th[scope=row]{text-align:left;color:var(--fg)}.grid td{font-weight:700}.grid "
    "td.BLANK{border-style:dashed;font-weight:400}.grid td.no{color:var(--dim);font-weight:400}\n"
    "dl[id]{scroll-margin-top:3.5rem}\n"
    "details{border:1px solid var(--line);border-radius:6px;background:var(--card);margin:.5rem 0;"
    "padding:.5rem .75rem}\n"
    "summary{cursor:pointer;font-weight:600}\n"
    "summary:focus-visible,a:focus-visible{outline:2px solid currentColor;outline-offset:2px}\n"
    "dl{display:grid;grid-template-columns:minmax(7rem,max-content) minmax(0,1fr);gap:.15rem 1rem;"
    "margin:.5rem 0}\n"
    "dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}\n"
    "@media(max-width:62rem){.wide th,.wide td{font-size:.875rem;padding-right:.6rem}}\n"
    "@media(max-width:44rem){.grid th,.grid td{font-size:.72rem;padding:.3rem .15rem}.wide "
    "tr.BLANK "
    "td.none{display:none}body{padding:.75rem}.wide "
    "thead{position:absolute;clip-path:inset(50%);width:1px;overflow:hidden}"
    ".wide,.wide tbody{display:block}.wide tr{display:block;border:1px solid "
    "var(--line);border-radius:6px;margin:.5rem 0;padding:.4rem .6rem}.wide td{display:grid;"
    "grid-template-columns:6.5rem minmax(0,1fr);border:0;padding:.1rem "
    "0}.wide "
    "td.empty{display:none}.wide td{min-width:0}td.short{white-space:normal}"
    ".wide td::before{content:attr(data-l);color:var(--dim)}dl{grid-template-columns:minmax(0,1fr)}"
    "dd{margin-bottom:.3rem}}\n"
    "@media print{:root{--bg:#fff;--fg:#000;--card:#fff;--line:#999;--dim:#333;--good:#000;"
    "--bad:#000;--warn:#000;--blank:#333}body{max-width:none;font-size:10pt}"
    "tr,summary,dt{break-inside:avoid}summary,dt,h2{break-after:avoid}"
    "details::details-content{content-visibility:visible;block-size:auto}}\n"
    "</style>\n</head>\n<body>\n";

static void put(FILE *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        switch (c) {
        case '<':
            (void)fputs("&lt;", out);
            break;
        case '>':
            (void)fputs("&gt;", out);
            break;
        case '&':
            (void)fputs("&amp;", out);
            break;
        case '"':
            (void)fputs("&quot;", out);
            break;
        case '\'':
            (void)fputs("&#39;", out);
            break;
        default:
            (void)fputc((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ? '?' : c, out);
        }
    }
}

static void put_cell(FILE *out, const char *label, const char *class, const char *text)
{
    (void)fprintf(
        out, "<td data-l=\"%s\" class=\"%s%s\"><span>", label, class, text[0] ? "" : " empty");
    put(out, text);
    (void)fputs("</span></td>", out);
}

/* ---- at a glance: a row for each vendor ---- */

static bool is_of(const json_t *cell, const char *vendor, const char *boundary, bool on)
{
    bool is_on = strcmp(matrix_text(cell, "sandbox"), "on") == 0;

    return matrix_number(cell, "cell") > 0 && strcmp(matrix_text(cell, "vendor"), vendor) == 0 &&
           strcmp(matrix_text(cell, "boundary"), boundary) == 0 &&
           matrix_text(cell, "sandbox")[0] && is_on == on;
}

/* The latest one, those of this host before imported ones; NULL: nobody looked. */
static const json_t *pick(const json_t *cells, const char *vendor, const char *boundary, bool on)
{
    const json_t *cell, *best = NULL;
    bool own = false;
    size_t i;

    json_array_foreach(cells, i, cell)
    {
        bool here = !matrix_text(cell, "origin")[0];

        if (!is_of(cell, vendor, boundary, on) || (best && own && !here))
            continue;
        if (best && own == here &&
            matrix_number(cell, "begun_ms") < matrix_number(best, "begun_ms"))
            continue;
        best = cell;
        own = here;
    }
    return best;
}

static bool has_no_sandbox(const json_t *cells, const char *vendor)
{
    const json_t *domain = pick(cells, vendor, "domain", false),
                 *container = pick(cells, vendor, "container", false);

    return strcmp(matrix_text(domain ? domain : container, "sandbox"), "none") == 0;
}

static void put_square(FILE *out, const json_t *cell, bool none)
{
    const char *verdict = matrix_text(cell, "verdict");

    if (!cell && none)
        (void)fputs("<td class=\"no\">has none</td>", out);
    else if (!cell)
        (void)fputs("<td class=\"BLANK\"><span>BLANK</span></td>", out);
    else
        (void)fprintf(out, "<td class=\"%s%s\"><a href=\"#c%lld\"><span>%s</span></a></td>",
            verdict, matrix_text(cell, "stale")[0] ? " stale" : "", matrix_number(cell, "cell"),
            matrix_verdict(cell));
}

static void put_grid(FILE *out, const json_t *cells)
{
    static const char *const boundaries[] = {"domain", "container"};
    const char *last = "";
    const json_t *cell;
    size_t i;

    (void)fputs("<table class=\"grid\"><caption>Each vendor's latest cell, its own sandbox off and "
                "on; each leads to its evidence.</caption><thead><tr><th rowspan=\"2\">vendor</th>"
                "<th colspan=\"2\">domain</th><th colspan=\"2\">container</th></tr><tr><th>off</th>"
                "<th>on</th><th>off</th><th>on</th></tr></thead><tbody>\n",
        out);
    json_array_foreach(cells, i, cell)
    {
        const char *vendor = matrix_text(cell, "vendor");
        bool none;

        if (strcmp(vendor, last) == 0)
            continue;
        last = vendor;
        none = has_no_sandbox(cells, vendor);
        (void)fputs("<tr><th scope=\"row\">", out);
        put(out, vendor);
        (void)fputs("</th>", out);
        for (size_t b = 0; b < array_size(boundaries); b++) {
            put_square(out, pick(cells, vendor, boundaries[b], false), false);
            put_square(out, pick(cells, vendor, boundaries[b], true), none);
        }
        (void)fputs("</tr>\n", out);
    }
    (void)fputs("</tbody></table>\n", out);
}

/* ---- every cell ---- */

static void put_row(FILE *out, const json_t *cell)
{
    const char *verdict = matrix_text(cell, "verdict");
    bool stale = matrix_text(cell, "stale")[0] != '\0';
    long long number = matrix_number(cell, "cell");
    char class[64];

    (void)snprintf(class, sizeof(class), "v %.20s%s", verdict, stale ? " stale" : "");
    if (number == 0) /* the grid above has the blanks */
        return;
    (void)fprintf(out,
        "<tr><td data-l=\"evidence\" class=\"short\"><a href=\"#c%lld\">cell %lld</a></td>", number,
        number);
    put_cell(out, "vendor", "short", matrix_text(cell, "vendor"));
    put_cell(out, "version", "", matrix_text(cell, "vendor_version"));
    put_cell(out, "boundary", "short", matrix_text(cell, "boundary"));
    put_cell(out, "sandbox", "short", matrix_text(cell, "sandbox"));
    put_cell(out, "verdict", class, matrix_verdict(cell));
    put_cell(out, "why", "", stale ? matrix_text(cell, "stale") : matrix_text(cell, "why"));
    (void)fputs("</tr>\n", out);
}

static void put_item(FILE *out, const char *name, const char *value)
{
    if (!value[0])
        return;
    (void)fprintf(out, "<dt>%s</dt><dd>", name);
    put(out, value);
    (void)fputs("</dd>\n", out);
}

static void put_block(FILE *out, const char *name, const char *value)
{
    if (!value[0])
        return;
    (void)fprintf(out, "<dt>%s</dt><dd><pre>", name);
    put(out, value);
    (void)fputs("</pre></dd>\n", out);
}

static void put_arm(FILE *out, const json_t *arm)
{
    long long begun = matrix_number(arm, "begun_ms"), ended = matrix_number(arm, "ended_ms");
    char number[40], took[40] = "", leg[40] = "";

    (void)snprintf(number, sizeof(number), "Arm %lld, ", matrix_number(arm, "arm"));
    if (begun > 0 && ended >= begun)
        (void)snprintf(took, sizeof(took), "%lld ms", ended - begun);
    if (matrix_number(arm, "leg") > 0)
        (void)snprintf(leg, sizeof(leg), "%lld", matrix_number(arm, "leg"));
    (void)fprintf(out,
        "<details><summary>%s%s: <span class=\"%s\">%s</span></summary>\n<p "
        "class=\"dim\">",
        number, matrix_text(arm, "name"), matrix_text(arm, "outcome"), matrix_text(arm, "outcome"));
    put(out, matrix_arm_meaning((unsigned int)matrix_number(arm, "arm")));
    (void)fputs("</p>\n<dl>\n", out);
    put_item(out, "took", took);
    put_item(out, "leg", leg);
    put_block(out, "ran", matrix_text(arm, "command"));
    put_item(out, "why", matrix_text(arm, "detail"));
    put_block(out, "wrote", matrix_text(arm, "output"));
    put_block(out, "told", matrix_text(arm, "events"));
    (void)fputs("</dl></details>\n", out);
}

static void put_state(FILE *out, const char *sandbox)
{
    if (strcmp(sandbox, "on") == 0 || strcmp(sandbox, "off") == 0)
        (void)fprintf(out, ", its sandbox %s", sandbox);
}

static void put_evidence(FILE *out, const json_t *cell)
{
    const json_t *arm;
    size_t i;

    if (matrix_number(cell, "cell") == 0)
        return;
    (void)fprintf(out, "<details><summary>Cell %lld: ", matrix_number(cell, "cell"));
    put(out, matrix_text(cell, "vendor"));
    (void)fputs(" in ", out);
    put(out, matrix_text(cell, "boundary"));
    put_state(out, matrix_text(cell, "sandbox"));
    /* The name is within, so that following a link to it opens it. */
    (void)fprintf(out, ": <span class=\"%s\">%s</span></summary>\n<dl id=\"c%lld\">\n",
        matrix_text(cell, "verdict"), matrix_verdict(cell), matrix_number(cell, "cell"));
    put_item(out, "why", matrix_text(cell, "why"));
    put_item(out, "stale", matrix_text(cell, "stale"));
    put_item(out, "remedy", matrix_remedy(cell));
    put_item(out, "version", matrix_text(cell, "vendor_version"));
    put_item(out, "program", matrix_text(cell, "program"));
    put_item(out, "sha256", matrix_text(cell, "sha256"));
    put_item(out, "identity", matrix_text(cell, "identity"));
    put_item(out, "its sandbox", matrix_text(cell, "sandbox"));
    put_item(out, "host", matrix_text(cell, "host"));
    put_item(out, "kernel", matrix_text(cell, "kernel"));
    put_item(out, "distribution", matrix_text(cell, "distribution"));
    put_item(out, "boundary of", matrix_text(cell, "saphan"));
    put_item(out, "enclosure", matrix_text(cell, "enclosure"));
    put_item(out, "walls", matrix_text(cell, "walls"));
    put_item(out, "measured", time_text(matrix_number(cell, "begun_ms")));
    put_item(out, "by", matrix_text(cell, "user"));
    put_item(out, "how", matrix_text(cell, "measured_by"));
    put_item(out, "origin", matrix_text(cell, "origin"));
    put_item(out, "hash", matrix_text(cell, "hash"));
    put_block(out, "shown wrong by", matrix_text(cell, "falsify"));
    (void)fputs("</dl>\n", out);
    json_array_foreach(json_object_get(cell, "arms"), i, arm) put_arm(out, arm);
    (void)fputs("</details>\n", out);
}

static void put_states(FILE *out, const json_t *rows, const char *name, const char *label)
{
    const json_t *row;
    size_t i;

    (void)fprintf(out,
        "<table class=\"wide\"><thead><tr><th>%s</th><th>state</th><th>what was "
        "seen</th></tr></thead><tbody>\n",
        label);
    json_array_foreach(rows, i, row)
    {
        (void)fputs("<tr>", out);
        put_cell(out, label, "", matrix_text(row, name));
        put_cell(out, "state", matrix_text(row, "state"), matrix_text(row, "state"));
        put_cell(out, "seen", "seen", matrix_text(row, "detail"));
        (void)fputs("</tr>\n", out);
    }
    (void)fputs("</tbody></table>\n", out);
}

static void put_machine(FILE *out, const struct matrix_page *page)
{
    (void)fputs("<h2>The machine</h2>\n<dl>\n", out);
    put_item(out, "host", matrix_text(page->machine, "host"));
    put_item(out, "distribution", matrix_text(page->machine, "distribution"));
    put_item(out, "kernel", matrix_text(page->machine, "kernel"));
    put_item(out, "measured", time_text(matrix_number(page->machine, "at_ms")));
    put_item(out, "saphan", matrix_text(page->machine, "version"));
    put_item(out, "again", matrix_text(page->machine, "command"));
    (void)fputs("</dl>\n", out);
    put_states(out, page->claims, "meaning", "claim");
    (void)fputs("<details><summary>Every rung</summary>\n", out);
    put_states(out, page->rungs, "rung", "rung");
    (void)fputs("</details>\n", out);
}

void matrix_page_html(const struct matrix_page *page, FILE *out)
{
    const json_t *cell;
    size_t i;

    (void)fputs(head, out);
    (void)fputs(
        "<h1>The matrix</h1>\n<p class=\"dim\">Whether a vendor's agent does its work inside a "
        "boundary of saphan, as measured.  A BLANK is that nobody looked; that is not "
        "\"no\".  A stale cell is struck through: it is shown and never used.</p>\n",
        out);
    put_grid(out, page->cells);
    (void)fputs(
        "<h2>Every cell</h2>\n<table class=\"wide\"><thead><tr><th>evidence</th><th>vendor</th>"
        "<th>version</th><th>boundary</th><th>sandbox</th><th>verdict</th><th>why</th></tr></"
        "thead><tbody>\n",
        out);
    json_array_foreach(page->cells, i, cell) put_row(out, cell);
    (void)fputs("</tbody></table>\n<h2>Evidence and remedies</h2>\n", out);
    json_array_foreach(page->cells, i, cell) put_evidence(out, cell);
    put_machine(out, page);
    (void)fputs("<h2>What this cannot say</h2>\n<ul>\n", out);
    for (const char *const *limit = matrix_limits; *limit; limit++) {
        (void)fputs("<li>", out);
        put(out, *limit);
        (void)fputs("</li>\n", out);
    }
    (void)fputs("</ul>\n</body>\n</html>\n", out);
}
