/* saphan - the command that asks saphand to run a leg, and shows what became of it.
 *
 * It should: turn a command line into one request of libsaphan, carry events to people or programs,
 * and exit with a status that tells the leg's own from ours.  It opens what it grants as its user
 * and passes descriptors, so it can grant nothing that its user could not open.
 *
 * It must not: decide anything that saphand has to decide (it has no privilege, and saphand
 * believes nothing it says); pass a terminal to a leg; show bytes that a leg chose to a terminal
 * unescaped, but for the leg's own output; end with a status below 125 that was not the leg's.
 *
 * An attacker who owns it gains what its user already has: the user's files, and requests to
 * saphand in the user's name.  What comes over the socket is from saphand, but is held to its form
 * all the same.
 */
#include "say.h"
#include "text.h"
#include "verbs.h"
#include <fcntl.h>
#include <string.h>

static const char usage[] =
    "usage: saphan run [OPTION]... -- COMMAND [ARG]...   run a command confined\n"
    "       saphan legs [--all] [--json]                 the legs that run\n"
    "       saphan leg show ID                           what one leg did\n"
    "       saphan leg logs ID [--follow]                its kept output\n"
    "       saphan leg kill ID                           end it\n"
    "       saphan leg allow | deny ID HOST[:PORT]       change what its door lets through\n"
    "       saphan why [--json] ID PATH                  what decides for a path\n"
    "       saphan image add NAME SOURCE                 a root file system for containers\n"
    "       saphan image list | show | rm | gc           what there is of them\n"
    "       saphan status                                the daemon, this machine, your rules\n"
    "       saphan machine show | probe-confinement      this machine's rungs, measured\n"
    "       saphan matrix measure | show | history | export | import | report\n"
    "                                                    what vendors do inside boundaries, "
    "measured\n"
    "       saphan explain [REASON]                      what a reason means, and its remedy\n"
    "       saphan --version | --help | VERB --help\n"
    "\n"
    "Exit status of run: 0 GREEN; the program's own, or 128+signal; 112 RED although it exited 0;\n"
    "124 wall time; 125 refused or saphan's own failure; 126, 127 as env(1).  See saphan(1).\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} verbs[] = {
    {"run", verb_run},
    {"legs", verb_legs},
    {"leg", verb_leg},
    {"image", verb_image},
    {"status", verb_status},
    {"why", verb_why},
    {"machine", verb_machine},
    {"matrix", verb_matrix},
    {"explain", verb_explain},
};

/* A socket or a grant must never become descriptor 0, 1 or 2. */
static int hold_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) != fd)
            return EXIT_OURS;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (hold_standard_descriptors() != 0)
        return EXIT_OURS;
    if (argc < 2)
        return say("no verb: see `saphan --help`");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_text(usage, strlen(usage));
    if (strcmp(argv[1], "--version") == 0)
        return print_text("saphan " SAPHAN_VERSION "\n", strlen("saphan " SAPHAN_VERSION "\n"));
    for (size_t i = 0; i < array_size(verbs); i++) {
        if (strcmp(argv[1], verbs[i].name) == 0)
            return verbs[i].run(argc - 2, argv + 2);
    }
    return say("no such verb: %s: see `saphan --help`", escaped(argv[1]));
}
