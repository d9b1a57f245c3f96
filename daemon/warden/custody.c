#include "custody.h"

#include "log.h"
#include "own.h"
#include "program.h"
#include "reasons.h"
#include "text.h"
#include <errno.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

static const char *fault_of(const struct options *options, const struct stat *st)
{
    bool sticky = S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX && st->st_uid == 0;

    if (st->st_uid != 0 && !(options->has_custodian && st->st_uid == options->custodian))
        return "is owned by another user than root";
    /* A group write bit is harmless only where the group is root's own. */
    if (!sticky && ((st->st_mode & S_IWOTH) ||
                       ((st->st_mode & S_IWGRP) && st->st_gid != 0 &&
                           !(options->has_custodian && st->st_uid == options->custodian))))
        return "can be written by others";
    return NULL;
}

/* PATH (real: no links) and each directory above it. */
static int walk(const struct options *options, const char *path)
{
    auto_free char *at = strdup(path);
    int faults = 0;

    while (at) {
        const char *here = *at ? at : "/", *fault;
        struct stat st;
        char *slash;

        fault = lstat(here, &st) < 0 ? strerror(errno) : fault_of(options, &st);
        if (fault) {
            log_error("%s: %s %s (for %s): chown root and chmod go-w it",
                reason_entry(REASON_CUSTODY_BINARY_UNSAFE)->slug, here, fault, path);
            faults++;
        }
        slash = strrchr(at, '/');
        if (*at == '\0' || !slash)
            break;
        *slash = '\0';
    }
    return faults;
}

static int check(const struct options *options, const char *path, bool must_exist)
{
    auto_free char *real = path ? realpath(path, NULL) : NULL;

    if (real)
        return walk(options, real);
    if (!path || (!must_exist && errno == ENOENT))
        return 0;
    log_error(
        "%s: %s: %s", reason_entry(REASON_CUSTODY_BINARY_UNSAFE)->slug, path, strerror(errno));
    return 1;
}

static int check_all_in(const struct options *options, const char *directory, const char *which)
{
    auto_free char *pattern = text_format("%s/%s", directory, which);
    glob_t found = {0};
    int faults = 0;

    if (!pattern)
        return 1;
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            faults += check(options, found.gl_pathv[i], true);
    }
    globfree(&found);
    return faults;
}

int custody_check(const struct options *options)
{
    int faults = check(options, "/proc/self/exe", true);

    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        auto_free char *path =
            text_format("%s/%s", options->libexec, program_name((enum program)i));

        faults += path ? check(options, path, true) : 1;
    }
    faults += check(options, options->config, true);
    faults += check(options, options->private_directory, true);
    faults += check(options, options->state, false);
    faults += check(options, options->vendors, false);
    if (options->vendors)
        faults += check_all_in(options, options->vendors, "*.vendor");
    for (uint32_t i = 0; i < options->n_policies; i++)
        faults += check(options, options->policies[i], true);
    if (options->n_policies == 0) {
        faults += check(options, options->policy_directory, true);
        faults += check_all_in(options, options->policy_directory, "*.policy");
    }
    return faults;
}
