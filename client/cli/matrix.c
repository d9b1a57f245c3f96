/* saphan matrix: vendor x version x platform x boundary, measured. */
#include "matrix_verbs.h"
#include "own.h"
#include "say.h"
#include "verbs.h"
#include <string.h>

static const char help[] =
    "usage: saphan matrix measure --vendor V [--boundary B] [--bin PATH] [OPTION]... -- TURN... "
    "[:: CONTROL...]\n"
    "       saphan matrix show [--json] [--vendor V] [CELL]   the newest cells, or one with its "
    "evidence\n"
    "       saphan matrix history [--json] [--vendor V]       all of them, the oldest first\n"
    "       saphan matrix export [--vendor V]                 one JSON object a line\n"
    "       saphan matrix import [FILE]                       what another host exported\n"
    "       saphan matrix report --html FILE | --markdown FILE\n"
    "\n"
    "A cell says NESTS, COLLIDES, HANGS or INDETERMINATE, with its evidence.  A blank is that "
    "nobody\n"
    "looked, which is not \"no\".  A stale cell is shown and never used.\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} words[] = {
    {"measure", verb_matrix_measure},
    {"show", verb_matrix_show},
    {"history", verb_matrix_history},
    {"export", verb_matrix_export},
    {"import", verb_matrix_import},
    {"report", verb_matrix_report},
};

int verb_matrix(int argc, char **argv)
{
    if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0))
        return print_text(help, strlen(help));
    for (size_t i = 0; argc > 0 && i < array_size(words); i++) {
        if (strcmp(argv[0], words[i].name) == 0)
            return words[i].run(argc - 1, argv + 1);
    }
    return say(
        "matrix: wanted measure, show, history, export, import or report: see `saphan matrix "
        "--help`");
}
