#include "settings_directory.h"

#include "fault.h"
#include "json_key.h"
#include "own.h"
#include "path.h"
#include "settings_file.h"
#include "text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define FILES_MAX 64

DEFINE_AUTO(DIR *, closedir);

static void broken(struct nesting_answer *ret, const char *name, const char *why)
{
    char text[NESTING_VALUE_MAX];

    (void)snprintf(text, sizeof(text), "%.60s: %.60s", name, why);
    *ret = (struct nesting_answer){.found = FOUND_BROKEN};
    text_escape(text, ret->why, sizeof(ret->why));
}

static bool is_settings(const char *name)
{
    size_t length = strlen(name), end = strlen(".json");

    return name[0] != '.' && length > end && text_equal(name + length - end, ".json");
}

static void take(struct nesting_answer *ret, const struct nesting_answer *found, const char *name)
{
    if (found->found == FOUND_BROKEN)
        broken(ret, name, found->why);
    else if (found->found == FOUND_VALUE && ret->found == FOUND_NOTHING)
        *ret = *found;
    else if (found->found == FOUND_VALUE && !text_equal(found->value, ret->value))
        broken(ret, name, "says otherwise than another file beside it");
}

static void look(int directory, const char *name, const char *key, struct nesting_answer *ret)
{
    struct nesting_answer found = {.found = FOUND_NOTHING};
    auto_free char *text = NULL;
    size_t length = 0;
    int r = settings_file_read(directory, name, &text, &length);

    if (r < 0 && r != -ENOENT)
        broken(&found, "cannot be read", r == -EINVAL ? "no file" : fault_errno_name(-r));
    else if (r == 0)
        json_key(text, length, key, &found);
    take(ret, &found, name);
}

void settings_directory_key(const char *pattern, const char *key, struct nesting_answer *ret)
{
    auto_free char *path = strndup(pattern, strlen(pattern) - strlen(SETTINGS_DIRECTORY_SUFFIX));
    auto_close int fd = path ? path_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0) : -ENOMEM;
    auto_(closedir) DIR *directory = NULL;
    struct dirent *entry;
    int files = 0;

    *ret = (struct nesting_answer){.found = FOUND_NOTHING};
    if (fd == -ENOENT || fd == -ENOTDIR)
        return;
    directory = fd < 0 ? NULL : fdopendir(fd);
    if (!directory) {
        broken(ret, "cannot be read", fault_errno_name(fd < 0 ? -fd : errno));
        return;
    }
    (void)steal_fd(&fd);
    while (errno = 0, ret->found != FOUND_BROKEN && (entry = readdir(directory))) {
        if (!is_settings(entry->d_name))
            continue;
        if (++files > FILES_MAX)
            broken(ret, "the directory", "too many files");
        else
            look(dirfd(directory), entry->d_name, key, ret);
    }
    if (errno != 0 && ret->found != FOUND_BROKEN)
        broken(ret, "the directory", fault_errno_name(errno));
}
