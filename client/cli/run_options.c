#include "run_options.h"

#include "own.h"
#include "say.h"
#include "text.h"
#include "verb_options.h"
#include <string.h>

static const char help[] =
    "usage: saphan run [OPTION]... -- COMMAND [ARG]...\n"
    "       saphan run [OPTION]... --boundary container --image NAME [-- COMMAND [ARG]...]\n"
    "\n"
    "Runs COMMAND as a leg: confined, watched, and judged.  Nothing is granted unless named.\n"
    "\n"
    "  --workspace DIR       write DIR, but for its carve-outs; the leg's directory\n"
    "  --read PATH           read and execute PATH\n"
    "  --write PATH          read and write PATH\n"
    "  --carve-out PATH      keep PATH read-only inside a write grant\n"
    "  --seat DIR            the leg's HOME, writable as far as its vendor needs\n"
    "  --chdir DIR           the leg's directory; else the workspace, else /\n"
    "  --git                 let the leg commit in the workspace's repository\n"
    "  --artefact PATH[,min-size=SIZE][,sha256=HEX]\n"
    "                        a file the leg must leave; RED without it\n"
    "  --net none|door|landlock-net|cgroup-bpf|host\n"
    "                        the network: none (the default), what --allow and --forward say, or\n"
    "                        the host's: without TCP, without IPv4 and IPv6, or all of it\n"
    "  --allow HOST[:PORT]   net door: let the leg reach HOST (*.HOST: all below it); port 443\n"
    "  --forward PORT=HOST:PORT | PORT=unix:PATH |\n"
    "            PORT=https://HOST[:PORT][,header=NAME:@FILE][,ca=@FILE]\n"
    "                        net door: the leg's loopback PORT leads there; with https the door\n"
    "                        speaks TLS and adds the header, whose value the leg never sees\n"
    "  --view minimal|host   the files: system and grants (the default), or the host's, read-only\n"
    "  --limit NAME=VALUE[,NAME=VALUE]...\n"
    "                        tasks=N memory=SIZE cpu=PERCENT wall=DURATION output=SIZE files=N\n"
    "  --env NAME[=VALUE]    set NAME in the leg; without a value, to what it is here\n"
    "  --stdin none|inherit  standard input: none (the default), or this one\n"
    "  --keep-output         keep the output within output=; see `saphan leg logs`\n"
    "  --detach              end as soon as the leg has its number; implies --keep-output\n"
    "  --boundary domain|container\n"
    "                        the host's files through grants (the default), or an image's\n"
    "  --image NAME          the container's image: see `saphan image --help`.  Grants are then\n"
    "                        PATH, or PATH:PLACE where PLACE is an absolute path in the container\n"
    "  --user USER[:GROUP]   of the image: names or numbers; else as the image says, else root\n"
    "  --hostname NAME       the container's; else leg-ID\n"
    "  --writable-root       let the leg write to the image's files, in memory, for itself\n"
    "  --capability NAME     of a container, where the policy lists it: CAP_CHOWN and the like\n"
    "  --transport local     where the leg runs: here, and nowhere else\n"
    "  --vendor NAME         which agent program COMMAND is: codex, claude-code and the like;\n"
    "                        proc (the default): a plain program\n"
    "  --json                one JSON object a line on standard output\n"
    "  --help\n";

enum run_option {
    RUN_HELP = 1,
    RUN_BOUNDARY,
    RUN_IMAGE,
    RUN_USER,
    RUN_HOST_NAME,
    RUN_TRANSPORT,
    RUN_WRITABLE_ROOT,
    RUN_CAPABILITY,
    RUN_VENDOR,
    RUN_VIEW,
    RUN_WORKSPACE,
    RUN_READ,
    RUN_WRITE,
    RUN_CARVE_OUT,
    RUN_SEAT,
    RUN_CHDIR,
    RUN_ARTEFACT,
    RUN_NET,
    RUN_ALLOW,
    RUN_FORWARD,
    RUN_LIMIT,
    RUN_ENV,
    RUN_STDIN,
    RUN_KEEP_OUTPUT,
    RUN_DETACH,
    RUN_GIT,
    RUN_JSON,
};

static const struct option table[] = {
    {"--help", false, RUN_HELP},
    {"-h", false, RUN_HELP},
    {"--boundary", true, RUN_BOUNDARY},
    {"--vendor", true, RUN_VENDOR},
    {"--image", true, RUN_IMAGE},
    {"--user", true, RUN_USER},
    {"--hostname", true, RUN_HOST_NAME},
    {"--transport", true, RUN_TRANSPORT},
    {"--writable-root", false, RUN_WRITABLE_ROOT},
    {"--capability", true, RUN_CAPABILITY},
    {"--view", true, RUN_VIEW},
    {"--workspace", true, RUN_WORKSPACE},
    {"--read", true, RUN_READ},
    {"--write", true, RUN_WRITE},
    {"--carve-out", true, RUN_CARVE_OUT},
    {"--seat", true, RUN_SEAT},
    {"--chdir", true, RUN_CHDIR},
    {"--artefact", true, RUN_ARTEFACT},
    {"--net", true, RUN_NET},
    {"--allow", true, RUN_ALLOW},
    {"--forward", true, RUN_FORWARD},
    {"--limit", true, RUN_LIMIT},
    {"--env", true, RUN_ENV},
    {"--stdin", true, RUN_STDIN},
    {"--keep-output", false, RUN_KEEP_OUTPUT},
    {"--detach", false, RUN_DETACH},
    {"--git", false, RUN_GIT},
    {"--json", false, RUN_JSON},
};

void run_options_done(struct run_options *options)
{
    for (size_t i = 0; i < options->n_env_made; i++)
        free(options->env_made[i]);
    free(options->env_made);
    for (size_t i = 0; i < options->n_targets_made; i++)
        free(options->targets_made[i]);
    free(options->targets_made);
    free(options->env);
    free(options->carve_outs);
    free(options->allow);
    free(options->capabilities);
    free(options->forwards);
    free(options->artefacts);
    free(options->grants);
    free(options->argv);
}

/* No list can be longer than the command line. */
static int allocate(struct run_options *options, size_t count)
{
    options->grants = calloc(count + 1, sizeof(*options->grants));
    options->artefacts = calloc(count + 1, sizeof(*options->artefacts));
    options->carve_outs = calloc(count + 1, sizeof(*options->carve_outs));
    options->allow = calloc(count + 1, sizeof(*options->allow));
    options->capabilities = calloc(count + 1, sizeof(*options->capabilities));
    options->forwards = calloc(count + 1, sizeof(*options->forwards));
    options->env = calloc(count + 1, sizeof(*options->env));
    options->env_made = calloc(count + 1, sizeof(*options->env_made));
    options->argv = calloc(count + 1, sizeof(*options->argv));
    options->targets_made = calloc(count + 1, sizeof(*options->targets_made));
    if (!options->grants || !options->artefacts || !options->carve_outs || !options->allow ||
        !options->capabilities || !options->forwards || !options->env || !options->env_made ||
        !options->argv || !options->targets_made)
        return say("out of memory");
    return 0;
}

static int no_such(const char *option, const char *value, const char *wanted)
{
    return say("%s %s: wanted %s", option, escaped(value), wanted);
}

static int add_grant(
    struct run_options *options, enum saphan_grant_kind kind, const char *option, const char *path)
{
    if (!path[0])
        return say("%s: the path is empty", option);
    if (kind == SAPHAN_GRANT_WORKSPACE && options->workspace)
        return say(
            "--workspace stands twice: a leg has one workspace; use --write for %s", escaped(path));
    if (kind == SAPHAN_GRANT_WORKSPACE)
        options->workspace = path;
    options->grants[options->run.n_grants++] =
        (struct saphan_grant){.kind = kind, .fd = -1, .path = path};
    return 0;
}

static int add_artefact(struct run_options *options, char *text)
{
    struct saphan_error error;

    if (saphan_artefact_parse(text, &options->artefacts[options->run.n_artefacts], &error) != 0)
        return say("--artefact: %s", error.message);
    options->run.n_artefacts++;
    return 0;
}

static int add_forward(struct run_options *options, char *text)
{
    struct saphan_error error;

    if (saphan_forward_parse(text, &options->forwards[options->run.n_forwards], &error) != 0)
        return say("--forward: %s", error.message);
    options->run.n_forwards++;
    return 0;
}

static int add_limits(struct run_options *options, const char *text)
{
    struct saphan_error error;

    if (saphan_limits_parse(&options->run.limits, text, &error) != 0)
        return say("--limit: %s", error.message);
    return 0;
}

static int add_env(struct run_options *options, const char *text)
{
    const char *value;
    char *made;

    if (!text[0] || text[0] == '=')
        return no_such("--env", text, "NAME or NAME=VALUE");
    if (strchr(text, '=')) {
        options->env[options->n_env++] = text;
        return 0;
    }
    value = getenv(text);
    if (!value)
        return say("--env %s: it is not set here", escaped(text));
    made = text_format("%s=%s", text, value);
    if (!made)
        return say("out of memory");
    options->env_made[options->n_env_made++] = made;
    options->env[options->n_env++] = made;
    return 0;
}

static int set_stdin(struct run_options *options, const char *value)
{
    options->inherit_stdin = strcmp(value, "inherit") == 0;
    return options->inherit_stdin || strcmp(value, "none") == 0
               ? 0
               : no_such("--stdin", value, "none or inherit");
}

static int take_path(struct run_options *options, enum run_option id, const char *value)
{
    switch (id) {
    case RUN_WORKSPACE:
        return add_grant(options, SAPHAN_GRANT_WORKSPACE, "--workspace", value);
    case RUN_READ:
        return add_grant(options, SAPHAN_GRANT_READ, "--read", value);
    case RUN_WRITE:
        return add_grant(options, SAPHAN_GRANT_WRITE, "--write", value);
    case RUN_SEAT:
        return add_grant(options, SAPHAN_GRANT_SEAT, "--seat", value);
    case RUN_CARVE_OUT:
        options->carve_outs[options->n_carve_outs++] = value;
        return 0;
    default:
        if (!value[0])
            return say("--chdir: the path is empty");
        options->run.directory = value;
        return 0;
    }
}

static int take_choice(struct run_options *options, enum run_option id, const char *value)
{
    struct saphan_run *run = &options->run;

    switch (id) {
    case RUN_BOUNDARY:
        return saphan_boundary_parse(value, &run->boundary) == 0
                   ? 0
                   : no_such("--boundary", value, "domain or container");
    case RUN_VIEW:
        return saphan_view_parse(value, &run->view) == 0
                   ? 0
                   : no_such("--view", value, "minimal or host");
    case RUN_NET:
        return saphan_net_parse(value, &run->net) == 0
                   ? 0
                   : no_such("--net", value, "none, door, landlock-net, cgroup-bpf or host");
    case RUN_STDIN:
        return set_stdin(options, value);
    default:
        run->vendor = value;
        return value[0] ? 0 : no_such("--vendor", value, "a name, as proc");
    }
}

static int take_container(struct run_options *options, enum run_option id, const char *value)
{
    static const char *const names[] = {[RUN_IMAGE] = "--image",
        [RUN_USER] = "--user",
        [RUN_HOST_NAME] = "--hostname",
        [RUN_TRANSPORT] = "--transport"};
    struct saphan_run *run = &options->run;

    if (!value[0])
        return say("%s: the value is empty", names[id]);
    if (id == RUN_IMAGE)
        run->image = value;
    else if (id == RUN_USER)
        run->user = value;
    else if (id == RUN_HOST_NAME)
        run->host_name = value;
    else
        run->transport = value;
    return 0;
}

/* PATH:PLACE, in a container: the last ":/" parts them. */
static int split_targets(struct run_options *options)
{
    for (size_t i = 0; i < options->run.n_grants; i++) {
        struct saphan_grant *grant = &options->grants[i];
        const char *found = NULL;
        char *path;

        for (const char *at = grant->path; (at = strstr(at, ":/")); at++)
            found = at;
        if (!found)
            continue;
        path = strndup(grant->path, (size_t)(found - grant->path));
        if (!path)
            return say("out of memory");
        options->targets_made[options->n_targets_made++] = path;
        if (!path[0])
            return say("%s: the path is empty", escaped(grant->path));
        grant->target = found + 1;
        grant->path = path;
    }
    return 0;
}

static int take_flag(struct run_options *options, enum run_option id)
{
    switch (id) {
    case RUN_KEEP_OUTPUT:
        options->keep_output = true;
        return 0;
    case RUN_DETACH:
        options->run.detach = true;
        return 0;
    case RUN_GIT:
        options->run.git = true;
        return 0;
    case RUN_WRITABLE_ROOT:
        options->run.writable_root = true;
        return 0;
    default:
        options->json = true;
        return 0;
    }
}

static int take(struct run_options *options, enum run_option id, char *value)
{
    switch (id) {
    case RUN_WORKSPACE:
    case RUN_READ:
    case RUN_WRITE:
    case RUN_SEAT:
    case RUN_CARVE_OUT:
    case RUN_CHDIR:
        return take_path(options, id, value);
    case RUN_BOUNDARY:
    case RUN_VENDOR:
    case RUN_VIEW:
    case RUN_NET:
    case RUN_STDIN:
        return take_choice(options, id, value);
    case RUN_IMAGE:
    case RUN_USER:
    case RUN_HOST_NAME:
    case RUN_TRANSPORT:
        return take_container(options, id, value);
    case RUN_ARTEFACT:
        return add_artefact(options, value);
    case RUN_ALLOW:
        options->allow[options->n_allow++] = value;
        return value[0] ? 0 : no_such("--allow", value, "HOST[:PORT]");
    case RUN_CAPABILITY:
        options->capabilities[options->n_capabilities++] = value;
        return value[0] ? 0 : no_such("--capability", value, "a name, as CAP_CHOWN");
    case RUN_FORWARD:
        return add_forward(options, value);
    case RUN_LIMIT:
        return add_limits(options, value);
    case RUN_ENV:
        return add_env(options, value);
    default:
        return take_flag(options, id);
    }
}

/* How the three streams are made, once all options are known. */
static void set_streams(struct run_options *options)
{
    struct saphan_run *run = &options->run;
    enum saphan_stream_mode mode = SAPHAN_STREAM_FD;

    if (options->keep_output || run->detach)
        mode = SAPHAN_STREAM_KEEP;
    else if (options->json)
        mode = SAPHAN_STREAM_EVENTS;
    run->out = (struct saphan_stream){.mode = mode, .fd = STDOUT_FILENO};
    run->err = (struct saphan_stream){.mode = mode, .fd = STDERR_FILENO};
    if (options->inherit_stdin)
        run->in = (struct saphan_stream){.mode = SAPHAN_STREAM_FD, .fd = STDIN_FILENO};
}

static int finish(struct run_options *options, const struct options *line)
{
    size_t count = (size_t)(line->argc - line->at);

    bool none = count == 0 || !line->argv[line->at][0];

    /* An image has a command of its own. */
    if (none && (count > 0 || !options->run.image))
        return say("no command: it stands behind \"--\": see `saphan run --help`");
    if (options->run.boundary == SAPHAN_BOUNDARY_CONTAINER && split_targets(options) != 0)
        return EXIT_OURS;
    if (options->run.git && !options->workspace)
        return say("--git needs --workspace");
    for (size_t i = 0; i < count; i++)
        options->argv[i] = line->argv[line->at + (int)i];
    options->run.argv = options->argv;
    options->run.env = options->env;
    options->run.grants = options->grants;
    options->run.artefacts = options->artefacts;
    options->run.carve_outs = options->carve_outs;
    options->run.allow = options->allow;
    options->run.capabilities = options->capabilities;
    options->run.forwards = options->forwards;
    set_streams(options);
    return -1;
}

void run_options_parse(struct run_options *ret, int argc, char **argv, int *ret_status)
{
    struct options line = {.verb = "saphan run", .argc = argc, .argv = argv};
    char *value;
    int id, status;

    saphan_run_init(&ret->run);
    *ret_status = allocate(ret, (size_t)argc);
    if (*ret_status != 0)
        return;
    while ((id = options_next(&line, table, array_size(table), &value)) != OPTIONS_END) {
        if (id == OPTIONS_WORD)
            status = say("%s: the command stands behind \"--\"", escaped(value));
        else if (id == OPTIONS_ERROR)
            status = EXIT_OURS;
        else if (id == RUN_HELP)
            status = print_text(help, strlen(help));
        else
            status = take(ret, (enum run_option)id, value);
        if (status != 0 || id == RUN_HELP) {
            *ret_status = status;
            return;
        }
    }
    *ret_status = finish(ret, &line);
}
