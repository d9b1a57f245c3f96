#include "options.h"

#include "descriptor.h"
#include "hosts.h"
#include "own.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>

#define EXIT_USAGE 64
#define CONFIG_MAX 65536

static const char usage[] =
    "usage: saphand [OPTION]...\n"
    "Runs coding agents inside a boundary that holds.  See saphand(8).\n"
    "\n"
    "  --config FILE     read FILE instead of " SAPHAN_SYSCONF "/saphan/saphand.conf\n"
    "  --private DIR     keep socket, state and policy in DIR; needs no systemd\n"
    "  --policy FILE     use this policy file and no directory (may be given again)\n"
    "  --libexec DIR     where saphan-stub and the other programs stand\n"
    "  --vendors DIR     where the profiles of vendors (*.vendor) stand\n"
    "  --custodian UID   files of this user count as safe too: a developer's own build\n"
    "  --ready-fd N      write \"ready\" to descriptor N when the socket listens\n"
    "  --check           verify configuration, policy and custody; say what would be refused\n"
    "  --version         print the version\n"
    "  --help            print this\n";

static int set_text(char **slot, const char *value)
{
    char *copy = strdup(value);

    if (!copy)
        return -ENOMEM;
    free(*slot);
    *slot = copy;
    return 0;
}

/* ---- saphand.conf ---- */

struct config_reading {
    struct options *options;
    const char *file;
    char message[200];
    bool any;
};

static int set_number(uint64_t *slot, const char *value, uint64_t max)
{
    return text_parse_uint(value, max, slot);
}

/* Each an address, perhaps with a port: a name could not be resolved. */
static int set_resolvers(struct options *options, const char *value)
{
    auto_free char *copy = strdup(value);
    char *rest = NULL;
    size_t count = 0;

    if (!copy)
        return -ENOMEM;
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        struct host_pattern address;

        if (host_pattern_parse(word, false, &address) < 0 || address.kind != HOST_ADDRESS ||
            ++count > OPTIONS_RESOLVERS_MAX)
            return -EINVAL;
    }
    return count == 0 ? -EINVAL : set_text(&options->resolvers, value);
}

static int set_key(struct options *options, const char *key, const char *value)
{
    if (text_equal(key, "Socket"))
        return text_path_is_normal(value) ? set_text(&options->socket, value) : -EINVAL;
    if (text_equal(key, "SocketGroup"))
        return set_text(&options->socket_group, value);
    if (text_equal(key, "State"))
        return text_path_is_normal(value) ? set_text(&options->state, value) : -EINVAL;
    if (text_equal(key, "PolicyDirectory"))
        return text_path_is_normal(value) ? set_text(&options->policy_directory, value) : -EINVAL;
    if (text_equal(key, "VendorDirectory"))
        return text_path_is_normal(value) ? set_text(&options->vendors, value) : -EINVAL;
    if (text_equal(key, "ReadySlots"))
        return set_number(&options->slots, value, 64);
    if (text_equal(key, "ReadyFronts"))
        return set_number(&options->fronts, value, 64);
    if (text_equal(key, "ConnectionsPerUser"))
        return set_number(&options->connections_per_user, value, 1024);
    if (text_equal(key, "Connections"))
        return set_number(&options->connections, value, 1024);
    if (text_equal(key, "Audit")) {
        options->audit_enable = text_equal(value, "enable");
        return options->audit_enable || text_equal(value, "keep") ? 0 : -EINVAL;
    }
    if (text_equal(key, "Resolver"))
        return set_resolvers(options, value);
    if (text_equal(key, "ReadyDoors"))
        return set_number(&options->doors, value, 64);
    if (text_equal(key, "KeepLegs"))
        return set_number(&options->keep_legs, value, 10000000);
    return -ENOENT;
}

static int config_key(void *context, const char *section, const char *key, const char *value)
{
    struct config_reading *reading = context;
    int r;

    reading->any = true;
    if (!text_equal(section, "saphand")) {
        (void)snprintf(reading->message, sizeof(reading->message),
            "unknown section [%.60s]; only [saphand] is known", section);
        return 0;
    }
    r = set_key(reading->options, key, value);
    if (r == 0)
        return 1;
    if (r == -ENOENT)
        (void)snprintf(reading->message, sizeof(reading->message), "unknown key %.60s", key);
    else
        (void)snprintf(
            reading->message, sizeof(reading->message), "%.60s: bad value %.60s", key, value);
    return 0;
}

static int read_config(struct options *options, const char *file)
{
    struct config_reading reading = {.options = options, .file = file};
    auto_free char *text = NULL;
    int r;

    r = descriptor_read_file(AT_FDCWD, file, CONFIG_MAX, &text);
    if (r < 0) {
        (void)fprintf(stderr, "saphand: %s: cannot be read: %s\n", file, strerror(-r));
        return r;
    }
    r = ini_parse_string(text, config_key, &reading);
    if (r != 0 || !reading.any) {
        (void)fprintf(stderr, "saphand: %s:%d: %s\n", file, r > 0 ? r : 1,
            reading.message[0] ? reading.message : (r ? "not of the form Key=Value" : "is empty"));
        return -EINVAL;
    }
    return 0;
}

/* ---- the command line ---- */

enum {
    OPT_CONFIG = 256,
    OPT_PRIVATE,
    OPT_POLICY,
    OPT_LIBEXEC,
    OPT_CUSTODIAN,
    OPT_VENDORS,
    OPT_READY_FD,
    OPT_CHECK,
    OPT_VERSION,
    OPT_HELP
};

static const struct option long_options[] = {
    {"config", required_argument, NULL, OPT_CONFIG},
    {"private", required_argument, NULL, OPT_PRIVATE},
    {"policy", required_argument, NULL, OPT_POLICY},
    {"libexec", required_argument, NULL, OPT_LIBEXEC},
    {"vendors", required_argument, NULL, OPT_VENDORS},
    {"custodian", required_argument, NULL, OPT_CUSTODIAN},
    {"ready-fd", required_argument, NULL, OPT_READY_FD},
    {"check", no_argument, NULL, OPT_CHECK},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static int take_number(const char *name, const char *value, uint64_t max, uint64_t *ret)
{
    int r = text_parse_uint(value, max, ret);

    if (r < 0)
        (void)fprintf(
            stderr, "saphand: %s: a plain decimal number is wanted, not '%s'\n", name, value);
    return r;
}

static int take_option(struct options *options, int option, const char *value)
{
    uint64_t number;
    int r;

    switch (option) {
    case OPT_CONFIG:
        return set_text(&options->config, value);
    case OPT_PRIVATE:
        return set_text(&options->private_directory, value);
    case OPT_LIBEXEC:
        return set_text(&options->libexec, value);
    case OPT_VENDORS:
        return set_text(&options->vendors, value);
    case OPT_POLICY:
        if (options->n_policies == OPTIONS_POLICIES_MAX)
            return -E2BIG;
        return set_text(&options->policies[options->n_policies++], value);
    case OPT_CUSTODIAN:
        r = take_number("--custodian", value, UINT32_MAX - 1, &number);
        if (r == 0) {
            options->has_custodian = true;
            options->custodian = (uint32_t)number;
        }
        return r;
    case OPT_READY_FD:
        r = take_number("--ready-fd", value, 1023, &number);
        if (r == 0)
            options->ready_fd = (int)number;
        return r;
    case OPT_CHECK:
        options->check = true;
        return 0;
    default:
        return -EINVAL;
    }
}

static int parse_command_line(int argc, char **argv, struct options *options, int *ret_status)
{
    int option;

    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (option == OPT_VERSION || option == OPT_HELP) {
            (void)fputs(option == OPT_HELP ? usage : "saphand " SAPHAN_VERSION "\n", stdout);
            *ret_status = 0;
            return OPTIONS_E_EXIT;
        }
        if (option == '?' || take_option(options, option, optarg) < 0) {
            *ret_status = EXIT_USAGE;
            return OPTIONS_E_EXIT;
        }
    }
    if (optind < argc) {
        (void)fprintf(stderr, "saphand: unexpected argument '%s'\n", argv[optind]);
        *ret_status = EXIT_USAGE;
        return OPTIONS_E_EXIT;
    }
    return 0;
}

static int set_defaults(struct options *options)
{
    int r = 0;

    *options = (struct options){.ready_fd = -EBADF,
        .slots = 4,
        .fronts = 4,
        .doors = 1,
        .connections_per_user = 64,
        .connections = 256,
        .keep_legs = 10000};
    r = set_text(&options->socket, "/run/saphan/saphan.sock");
    if (r == 0)
        r = set_text(&options->socket_group, "saphan");
    if (r == 0)
        r = set_text(&options->state, SAPHAN_LOCALSTATE "/lib/saphan");
    if (r == 0)
        r = set_text(&options->policy_directory, SAPHAN_SYSCONF "/saphan/policy.d");
    if (r == 0)
        r = set_text(&options->libexec, SAPHAN_LIBEXEC);
    return r;
}

/* Profiles are found where they were installed; a private daemon has those it is given. */
static int default_vendors(struct options *options)
{
    return options->vendors || options->private_directory
               ? 0
               : set_text(&options->vendors, SAPHAN_DATA "/saphan/vendors");
}

/* --private DIR: everything of this daemon lies in DIR. */
static int apply_private(struct options *options)
{
    auto_free char *socket = NULL, *state = NULL, *policy = NULL;
    auto_free char *directory = realpath(options->private_directory, NULL);

    if (!directory) {
        int error = errno;

        (void)fprintf(
            stderr, "saphand: --private %s: %s\n", options->private_directory, strerror(error));
        return -error;
    }
    socket = text_format("%s/saphan.sock", directory);
    state = text_format("%s/state", directory);
    policy = text_format("%s/policy.d", directory);
    if (!socket || !state || !policy)
        return -ENOMEM;
    free(options->socket);
    free(options->state);
    free(options->policy_directory);
    free(options->socket_group);
    options->socket = steal_ptr(socket);
    options->state = steal_ptr(state);
    options->policy_directory = steal_ptr(policy);
    options->socket_group = NULL;
    return 0;
}

int options_parse(int argc, char **argv, struct options *ret, int *ret_status)
{
    int r;

    r = set_defaults(ret);
    if (r == 0)
        r = parse_command_line(argc, argv, ret, ret_status);
    if (r == OPTIONS_E_EXIT)
        return r;
    if (r == 0 && ret->private_directory)
        r = apply_private(ret);
    if (r == 0 && ret->config)
        r = read_config(ret, ret->config);
    else if (r == 0 && !ret->private_directory &&
             access(SAPHAN_SYSCONF "/saphan/saphand.conf", F_OK) == 0)
        r = read_config(ret, SAPHAN_SYSCONF "/saphan/saphand.conf");
    if (r == 0)
        r = default_vendors(ret);
    if (r < 0) {
        *ret_status = EXIT_USAGE;
        return OPTIONS_E_EXIT;
    }
    return 0;
}

void options_done(struct options *options)
{
    free(options->config);
    free(options->private_directory);
    free(options->socket);
    free(options->socket_group);
    free(options->state);
    free(options->policy_directory);
    free(options->libexec);
    free(options->vendors);
    free(options->resolvers);
    for (uint32_t i = 0; i < options->n_policies; i++)
        free(options->policies[i]);
}
