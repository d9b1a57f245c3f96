#include "vendors.h"

#include "descriptor.h"
#include "folder.h"
#include "log.h"
#include "profile.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define VENDOR_FILE_MAX (256 * 1024)

struct vendor_set {
    uint32_t holders;
    struct profile *profiles;
    size_t count;
};

struct vendor_set *vendors_hold(struct vendor_set *set)
{
    set->holders++;
    return set;
}

void vendors_release(struct vendor_set *set)
{
    if (!set || --set->holders > 0)
        return;
    for (size_t i = 0; i < set->count; i++)
        profile_done(&set->profiles[i]);
    free(set->profiles);
    free(set);
}

DEFINE_AUTO(struct vendor_set *, vendors_release);

const struct profile *vendors_find(const struct vendor_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++) {
        if (text_equal(set->profiles[i].name, name))
            return &set->profiles[i];
    }
    return NULL;
}

const char *vendors_name(const struct vendor_set *set, size_t at)
{
    return at < set->count ? set->profiles[at].name : NULL;
}

char *vendors_names(const struct vendor_set *set)
{
    char *names = NULL;

    for (size_t i = 0; i < set->count; i++) {
        char *longer =
            text_format("%s%s%s", names ? names : "", names ? " " : "", set->profiles[i].name);

        free(names);
        names = longer;
        if (!names)
            return NULL;
    }
    return names;
}

static int read_one(struct profile *profile, const char *file)
{
    const char *base = strrchr(file, '/') + 1;
    auto_free char *name = strndup(base, strlen(base) - strlen(".vendor"));
    struct strict_ini_error error = {0};
    auto_free char *text = NULL;
    int r;

    if (!name)
        return -ENOMEM;
    r = descriptor_read_file(AT_FDCWD, file, VENDOR_FILE_MAX, &text);
    if (r < 0) {
        log_error("vendor %s: cannot be read: %s", file, strerror(-r));
        return r;
    }
    r = profile_parse(name, file, text, profile, &error);
    if (r < 0)
        log_error("vendor %s:%u: %s", file, error.line, error.message);
    return r;
}

static int read_found(struct vendor_set *set, const glob_t *found)
{
    set->profiles = calloc(found->gl_pathc, sizeof(*set->profiles));
    if (!set->profiles)
        return -ENOMEM;
    for (size_t i = 0; i < found->gl_pathc; i++) {
        int r = read_one(&set->profiles[i], found->gl_pathv[i]);

        if (r < 0)
            return r;
        set->count++;
    }
    return 0;
}

static int read_directory(struct vendor_set *set, const char *directory)
{
    glob_t found;
    int r = folder_files(directory, ".vendor", "vendors",
        "reinstall saphan, or name their folder with --vendors", &found);

    if (r < 0)
        return r;
    r = read_found(set, &found);
    globfree(&found);
    return r;
}

int vendors_read(const struct options *options, struct vendor_set **ret)
{
    auto_(vendors_release) struct vendor_set *set = calloc(1, sizeof(*set));
    int r;

    if (!set)
        return -ENOMEM;
    set->holders = 1;
    r = options->vendors ? read_directory(set, options->vendors) : 0;
    if (r < 0)
        return r;
    *ret = steal_ptr(set);
    return 0;
}
