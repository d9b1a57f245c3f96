/* saphan matrix measure: one cell, from its first control to its verdict.
 *
 * Arms 0 to 4 are legs, and what they were is what saphand's own ledger says of them.  Arm 5, the
 * control outside of the boundary, is run here, in the user's own session: saphand runs nothing
 * unconfined.  An arm's row is written before it runs and amended after, so that a kill at any
 * point leaves a cell that says where it was interrupted. */
#include "matrix_measure.h"
#include "matrix_verbs.h"

#include "answering.h"
#include "clock.h"
#include "descriptor.h"
#include "enclosed.h"
#include "interrupt.h"
#include "own.h"
#include "say.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TURN_MS 300000 /* where no wall time was given */
#define EXIT_COLLIDES 112
#define EXIT_INDETERMINATE 113
#define EXIT_HANGS 124

static const char help[] =
    "usage: saphan matrix measure --vendor V [--boundary B] [--bin PATH] [OPTION]... -- TURN... "
    "[:: "
    "CONTROL...]\n"
    "\n"
    "Measures one cell of the matrix: whether vendor V does its work inside boundary B.  OPTIONs "
    "are\n"
    "those of `saphan run`; --artefact (what the turn must leave) and --workspace or --write are "
    "wanted.\n"
    "Arms 0 to 3 are saphan's own controls in that boundary, arm 4 is TURN in it.  Arm 5 is "
    "CONTROL,\n"
    "the same turn with the vendor's own sandbox on, run by this program outside of the boundary;\n"
    "without \"::\" it is TURN itself.  A control with the vendor's sandbox off is refused.\n"
    "\n"
    "  --bin PATH            the vendor's program, for its hash; else the first word of TURN\n"
    "\n"
    "Ends with 0 NESTS, 112 COLLIDES, 124 HANGS, 113 INDETERMINATE, 125 refused or not done.\n";

static void measure_done(struct measure *measure)
{
    if (measure->canary[0])
        (void)unlink(measure->canary);
    if (measure->outside[0])
        (void)rmdir(measure->outside);
    if (measure->inside_here)
        (void)unlink(measure->inside_here);
    saphan_close(measure->saphan);
    free(measure->inside);
    free(measure->inside_here);
    free(measure->falsify);
    run_options_done(&measure->options);
}

#define auto_measure __attribute__((cleanup(measure_done)))

/* An arm whose controls failed says nothing, so it is not run. */
static int skip_arm(struct measure *measure, int arm, const char *outcome, const char *detail)
{
    struct seen seen = {.status = -1};

    measure->arm = arm;
    measure->arm_since_us = clock_monotonic_us();
    (void)snprintf(seen.outcome, sizeof(seen.outcome), "%s", outcome);
    (void)snprintf(seen.detail, sizeof(seen.detail), "%s", detail);
    return measure_end_arm(measure, &seen, NULL);
}

/* ---- the cell ---- */

static int hash_program(const char *path, char out[65])
{
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    static uint8_t buffer[262144];
    uint8_t digest[32];
    SHA2_CTX context;
    struct stat st;
    ssize_t n;

    out[0] = '\0';
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return -ENOENT;
    SHA256Init(&context);
    while ((n = read(fd, buffer, sizeof(buffer))) > 0)
        SHA256Update(&context, buffer, (size_t)n);
    if (n < 0)
        return -errno;
    SHA256Final(digest, &context);
    text_format_sha256(digest, out);
    return 0;
}

/* As execvp(3) would find it. */
static char *find_program(const char *word)
{
    const char *path = getenv("PATH");
    auto_free char *copy = strdup(path ? path : "/usr/bin:/bin");
    char *rest = NULL;

    if (strchr(word, '/'))
        return realpath(word, NULL);
    for (char *at = copy ? strtok_r(copy, ":", &rest) : NULL; at; at = strtok_r(NULL, ":", &rest)) {
        auto_free char *full = text_format("%s/%s", at, word);

        if (full && access(full, X_OK) == 0)
            return realpath(full, NULL);
    }
    return NULL;
}

/* By hand, by a program, or from inside of what an engine put around this process. */
static void describe_measurer(char *out, size_t size)
{
    char enclosure[120];

    enclosed_describe(enclosure, sizeof(enclosure));
    if (enclosure[0])
        (void)snprintf(out, size, "from inside of %s", enclosure);
    else
        (void)snprintf(out, size, "%s",
            isatty(STDIN_FILENO) || isatty(STDERR_FILENO) ? "by hand, at a terminal"
                                                          : "by a program, not enclosed");
}

/* What is executed.  In a container that is a file of the image's, which is not looked at here. */
static int name_program(const struct measure *measure, char **ret_name, char sha256[65])
{
    const struct saphan_run *run = &measure->options.run;
    const char *word = measure->bin ? measure->bin : run->argv[0];

    sha256[0] = '\0';
    if (run->image) {
        *ret_name = text_format("%s in image %s", word, run->image);
        return 0;
    }
    *ret_name = find_program(word);
    if (*ret_name)
        (void)hash_program(*ret_name, sha256);
    else if (measure->bin)
        return say("--bin %s: there is no such program", escaped(measure->bin));
    return 0;
}

static int begin_cell(struct measure *measure)
{
    const struct saphan_run *run = &measure->options.run;
    auto_free char *program = NULL;
    char sha256[65], measurer[160];
    struct saphan_cell cell = {.vendor = run->vendor,
        .boundary = saphan_boundary_name(run->boundary ? run->boundary : SAPHAN_BOUNDARY_DOMAIN),
        .falsify = measure->falsify,
        .measured_by = measurer,
        .sha256 = sha256};
    struct saphan_error error;
    int r = name_program(measure, &program, sha256);

    if (r != 0)
        return r;
    cell.program = program;
    describe_measurer(measurer, sizeof(measurer));
    if (saphan_cell(measure->saphan, SAPHAN_STEP_BEGIN, &cell, NULL, &error) != 0)
        return say("%s", error.message);
    if (measure_await_end(measure, &measure->cell, NULL, 0) != 0)
        return EXIT_OURS;
    if (measure->options.json)
        (void)measure_line(measure, "cell", json_object());
    return 0;
}

static int status_of(const json_t *cell)
{
    const char *verdict = matrix_text(cell, "verdict");

    return strcmp(verdict, "NESTS") == 0      ? 0
           : strcmp(verdict, "COLLIDES") == 0 ? EXIT_COLLIDES
           : strcmp(verdict, "HANGS") == 0    ? EXIT_HANGS
                                              : EXIT_INDETERMINATE;
}

static int end_cell(struct measure *measure)
{
    struct saphan_cell cell = {.cell = measure->cell};
    struct saphan_event event;
    struct saphan_error error;
    json_t *found = NULL;
    int status = EXIT_OURS;

    if (saphan_cell(measure->saphan, SAPHAN_STEP_END, &cell, NULL, &error) != 0)
        return say("%s", error.message);
    while (saphan_next(measure->saphan, -1, NULL, &event, &error) == 0) {
        if (event.kind == SAPHAN_EVENT_CELL)
            found = matrix_cell(&event.cell, false);
        else if (event.kind == SAPHAN_EVENT_ARM)
            (void)json_array_append_new(json_object_get(found, "arms"), matrix_arm(&event.arm));
        if (event.last)
            break;
    }
    if (!found)
        return say("saphand did not say what became of the cell");
    status = status_of(found);
    if (measure->options.json) {
        (void)json_object_set_new(found, "schema", json_string(JSON_SCHEMA_MATRIX));
        (void)json_object_set_new(found, "event", json_string("verdict"));
        (void)json_object_set_new(found, "client_status", json_integer(status));
        return json_line(found) == 0 ? status : EXIT_OURS;
    }
    matrix_print_cell(found);
    json_decref(found);
    return status;
}

static int run_arms(struct measure *measure)
{
    static const char *const because = "a control before it did not hold: it would say nothing";
    bool good = true;
    int r = 0;

    for (int arm = ECHO; r == 0 && arm < ARMS; arm++) {
        bool held = true;

        if (!good)
            r = skip_arm(measure, arm, "unrunnable", because);
        else if (arm == CONTROL)
            r = measure_control(measure);
        else
            r = measure_arm(measure, arm, &held);
        if (arm < TURN)
            good = good && held;
    }
    return r;
}

/* ---- the command line ---- */

static const char *write_grant(const struct measure *measure)
{
    for (size_t i = 0; i < measure->options.run.n_grants; i++) {
        enum saphan_grant_kind kind = measure->options.grants[i].kind;

        if (kind == SAPHAN_GRANT_WORKSPACE || kind == SAPHAN_GRANT_WRITE)
            return measure->options.grants[i].path;
    }
    return NULL;
}

/* A folder of ours that no grant covers: what arms 2 and 3 try to write. */
static int make_outside(struct measure *measure, const char *grant)
{
    auto_free char *real = realpath(grant, NULL), *above = real ? text_format("%s/..", real) : NULL;
    const char *const places[] = {above, "/var/tmp", "/tmp"};
    auto_close int fd = -EBADF;

    for (size_t i = 0; i < array_size(places) && fd < 0; i++) {
        auto_free char *place = places[i] ? realpath(places[i], NULL) : NULL;

        if (!place || (real && text_path_beneath(place, real)) || strlen(place) > PATH_MAX - 32)
            continue;
        (void)snprintf(
            measure->outside, sizeof(measure->outside), "%s/saphan-outside.XXXXXX", place);
        if (!mkdtemp(measure->outside)) {
            measure->outside[0] = '\0';
            continue;
        }
        (void)snprintf(measure->canary, sizeof(measure->canary), "%s/canary", measure->outside);
        fd = open(measure->canary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (fd < 0 || descriptor_write_all(fd, WRITTEN, strlen(WRITTEN)) < 0)
        return say("no place outside of the grants can be written here, so that its refusal would "
                   "say nothing");
    return 0;
}

/* One that hangs would hold this program before saphand was asked: it is found out first. */
static int check_grants(const struct measure *measure)
{
    size_t count = measure->options.run.n_grants;
    auto_free const char **paths = calloc(count + 1, sizeof(*paths));
    const char *hanging;

    if (!paths)
        return say("out of memory");
    for (size_t i = 0; i < count; i++)
        paths[i] = measure->options.grants[i].path;
    hanging = first_unanswered(paths, count);
    return hanging ? say("measure: %s: its file system did not answer within %d s: nothing can be "
                         "measured with it",
                         escaped(hanging), ANSWERING_MS / 1000)
                   : 0;
}

static int prepare(struct measure *measure)
{
    const struct saphan_run *run = &measure->options.run;
    const char *grant = write_grant(measure);
    int r;

    if (!run->vendor)
        return say("measure: --vendor is wanted: see `saphan matrix measure --help`");
    if (run->n_artefacts == 0)
        return say("measure: --artefact is wanted: a turn that leaves nothing cannot be judged");
    if (!grant)
        return say("measure: --workspace or --write is wanted");
    if (!run->argv || !run->argv[0])
        return say("measure: no turn stands behind \"--\"");
    if (run->detach)
        return say("measure: --detach does not go with measuring");
    r = check_grants(measure);
    if (r != 0)
        return r;
    for (size_t i = 0; i < run->n_artefacts; i++) {
        auto_free char *path = measure_place(measure, run->artefacts[i].path);

        if (path && access(path, F_OK) == 0)
            return say("measure: %s is there already: remove it, so that it is seen being made",
                escaped(path));
    }
    measure->wall_ms = run->limits.wall_ms ? run->limits.wall_ms : TURN_MS;
    measure->inside_here = text_format("%s/.saphan-arm-%d", grant, (int)getpid());
    measure->inside = grant == measure->options.workspace && !run->directory
                          ? text_format(".saphan-arm-%d", (int)getpid())
                          : strdup(measure->inside_here ? measure->inside_here : "");
    if (!measure->inside || !measure->inside_here)
        return say("out of memory");
    return make_outside(measure, grant);
}

/* NAME of "NAME=VALUE": a cell is shown to everybody, so the values of the environment are not
 * kept;
 * `--env NAME` takes them from where it is run again. */
static char *name_of(const char *word, bool joined)
{
    const char *from = joined ? word + strlen("--env=") : word;

    return text_format(
        "%.*s%.*s", joined ? (int)strlen("--env=") : 0, word, (int)strcspn(from, "="), from);
}

/* The command that measures it again.  NULL: no memory. */
static char *write_command(int argc, char **argv)
{
    auto_free const char **words = calloc((size_t)argc + 3, sizeof(*words));
    auto_free char **names = calloc((size_t)argc + 1, sizeof(*names));
    bool behind = false, good = words && names;
    char *command;

    for (int i = 0; good && i < argc; i++) {
        bool joined = text_starts_with(argv[i], "--env=");

        behind = behind || strcmp(argv[i], "--") == 0;
        if (!behind && (joined || (i > 0 && strcmp(argv[i - 1], "--env") == 0))) {
            names[i] = name_of(argv[i], joined);
            good = names[i] != NULL;
        }
        words[i + 3] = names[i] ? names[i] : argv[i];
    }
    if (good) {
        words[0] = "saphan";
        words[1] = "matrix";
        words[2] = "measure";
    }
    command = good ? matrix_quote(words, (size_t)argc + 3) : NULL;
    for (int i = 0; names && i < argc; i++)
        free(names[i]);
    return command;
}

/* Takes --bin out, and cuts what stands behind "::" off; the rest is `saphan run`'s. */
static void parse(struct measure *measure, int argc, char **argv, int *ret_status)
{
    int n = 0, i = 0;

    measure->falsify = write_command(argc, argv);
    if (!measure->falsify) {
        *ret_status = say("out of memory");
        return;
    }
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--bin") == 0 && i + 1 < argc)
            measure->bin = argv[++i];
        else if (text_starts_with(argv[i], "--bin="))
            measure->bin = argv[i] + strlen("--bin=");
        else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            *ret_status = print_text(help, strlen(help));
            return;
        } else
            argv[n++] = argv[i];
    }
    for (; i < argc && strcmp(argv[i], "::") != 0; i++)
        argv[n++] = argv[i];
    if (i < argc) {
        argv[argc] = NULL;
        measure->control = (const char *const *)(argv + i + 1);
    }
    run_options_parse(&measure->options, n, argv, ret_status);
    if (*ret_status < 0 && i < argc && !measure->control[0])
        *ret_status = say("measure: no control stands behind \"::\"");
}

int verb_matrix_measure(int argc, char **argv)
{
    auto_measure struct measure measure = {0};
    struct saphan_error error;
    int status = -1;

    parse(&measure, argc, argv, &status);
    if (status >= 0)
        return status;
    status = prepare(&measure);
    if (status != 0)
        return status;
    if (!measure.control)
        measure.control = measure.options.run.argv;
    (void)signal(SIGPIPE, SIG_IGN);
    if (saphan_connect(NULL, &measure.saphan, &error) != 0)
        return say("%s", error.message);
    interrupt_watch();
    status = begin_cell(&measure);
    if (status == 0)
        status = run_arms(&measure);
    return status == 0 ? end_cell(&measure) : status;
}
