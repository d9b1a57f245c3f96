/* saphan matrix report: the matrix, its evidence and the machine row as one page to hand on. */
#include "matrix_cells.h"
#include "matrix_page.h"
#include "matrix_verbs.h"
#include "own.h"
#include "say.h"
#include "verb_options.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: saphan matrix report --html FILE | --markdown FILE\n"
    "\n"
    "Writes one self-contained page: the matrix with its blanks, each cell's evidence, the machine "
    "row,\n"
    "what the measurement cannot say, remedies.  FILE \"-\" is standard output.\n";

static int write_page(const char *path, bool html)
{
    struct matrix_page page = {0};
    FILE *file;
    int r = matrix_page_load(&page);

    if (r != 0)
        return r;
    file = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (!file) {
        r = say("report: %s cannot be written: %s", escaped(path), strerror(errno));
    } else {
        if (html)
            matrix_page_html(&page, file);
        else
            matrix_page_markdown(&page, file);
        if (fflush(file) != 0 || ferror(file))
            r = say("report: %s could not be written whole", escaped(path));
        if (file != stdout && fclose(file) != 0 && r == 0)
            r = say("report: %s could not be written whole", escaped(path));
    }
    matrix_page_done(&page);
    return r;
}

int verb_matrix_report(int argc, char **argv)
{
    static const struct option table[] = {
        {"--help", false, 1}, {"-h", false, 1}, {"--html", true, 2}, {"--markdown", true, 3}};
    struct options line = {.verb = "saphan matrix report", .argc = argc, .argv = argv};
    const char *path = NULL;
    bool html = false;
    char *value;
    int id;

    while ((id = options_next(&line, table, array_size(table), &value)) != OPTIONS_END) {
        if (id == OPTIONS_ERROR)
            return EXIT_OURS;
        if (id == 1)
            return print_text(help, strlen(help));
        if (id == OPTIONS_WORD || path)
            return say("report: one of --html FILE and --markdown FILE is wanted");
        path = value;
        html = id == 2;
    }
    if (!path)
        return say("report: one of --html FILE and --markdown FILE is wanted");
    return write_page(path, html);
}
