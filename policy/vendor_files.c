#include "vendor_files.h"

#include "text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool shut_by_flag(
    const struct profile_steer *steer, const struct nesting_command *command, uint32_t program)
{
    struct profile_switch as = {.kind = SWITCH_FLAG,
        .form = steer->shut_value ? FLAG_VALUE : FLAG_ALONE,
        .flags = {.list = {steer->shut_flag}, .count = 1}};
    struct flag_found found;

    if (!steer->shut_flag || !nesting_flag(&as, command, program + 1, &found))
        return false;
    return text_equal(found.value, steer->shut_value ? steer->shut_value : "true");
}

static bool shut(const struct profile *profile, const struct profile_steer *steer,
    const struct nesting_command *command)
{
    const char *value = NULL;
    uint32_t program;

    if (nesting_program(profile, command, &program) < 0)
        return false;
    if (steer->shut_variable)
        value = nesting_variable(command, program, steer->shut_variable);
    if (value && (!steer->shut_value || text_equal(value, steer->shut_value)))
        return true;
    return shut_by_flag(steer, command, program);
}

struct listing {
    struct vendor_file *files;
    int count; /* or -E2BIG */
};

static void add(struct listing *listing, struct vendor_file file)
{
    if (listing->count == VENDOR_FILES_MAX)
        listing->count = -E2BIG;
    if (listing->count >= 0)
        listing->files[listing->count++] = file;
}

static void add_words(struct listing *listing, const struct words *words,
    enum vendor_file_kind kind, enum profile_place place, uint32_t directory)
{
    for (uint32_t i = 0; i < words->count; i++)
        add(listing,
            (struct vendor_file){
                .kind = kind, .place = place, .directory = directory, .path = words->list[i]});
}

static void add_steers(struct listing *listing, const struct profile *profile,
    const struct nesting_command *command, uint32_t directory)
{
    for (uint32_t i = 0; i < profile->n_steers; i++) {
        const struct profile_steer *steer = &profile->steers[i];

        if (!shut(profile, steer, command))
            add(listing, (struct vendor_file){.kind = VENDOR_FILE_STEER,
                             .place = PLACE_WORKSPACE,
                             .directory = directory,
                             .path = steer->path,
                             .key = steer->key,
                             .steer = steer});
    }
}

int vendor_files(const struct profile *profile, const struct nesting_command *command,
    uint32_t n_directories, struct vendor_file files[VENDOR_FILES_MAX])
{
    struct listing listing = {.files = files};

    add_words(&listing, &profile->settings, VENDOR_FILE_SETTINGS, PLACE_HOME, 0);
    for (uint32_t i = 0; i < n_directories; i++) {
        add_words(&listing, &profile->permissions, VENDOR_FILE_PERMISSION, PLACE_WORKSPACE, i);
        add_steers(&listing, profile, command, i);
    }
    return listing.count;
}

bool vendor_file_changed(
    const struct vendor_file_state *before, const struct vendor_file_state *after)
{
    return before->found != after->found || !text_equal(before->value, after->value);
}

static const char *shown(const struct vendor_file_state *state)
{
    return state->found == FOUND_VALUE     ? state->value
           : state->found == FOUND_NOTHING ? "absent"
                                           : "not readable";
}

void vendor_file_change(const struct vendor_file_state *before,
    const struct vendor_file_state *after, char *out, size_t size)
{
    const char *what = before->found == FOUND_NOTHING  ? "created"
                       : after->found == FOUND_NOTHING ? "removed"
                                                       : "rewritten";

    (void)snprintf(out, size, "%s: before %s, now %s", what, shown(before), shown(after));
}

void vendor_file_show(const struct vendor_file_state *state, char *out, size_t size)
{
    (void)snprintf(out, size, "%s%s", state->found == FOUND_VALUE ? "sha256 " : "", shown(state));
}

void vendor_file_steers(const struct vendor_file *file, const char *path,
    const struct vendor_file_state *state, char *out, size_t size)
{
    (void)snprintf(out, size, "%s%s%s%s%s: %s; %s", path, file->key ? ": " : "",
        file->key ? file->key : "", file->key ? " = " : "", file->key ? shown(state) : "",
        file->steer->does, file->steer->remedy ? file->steer->remedy : "take it out");
}

uint32_t vendor_files_steering(const struct vendor_file *files,
    const struct vendor_file_state *states, uint32_t count, uint32_t *ret_first)
{
    uint32_t found = 0;

    for (uint32_t i = count; i-- > 0;) {
        if (files[i].kind != VENDOR_FILE_STEER || states[i].found == FOUND_NOTHING)
            continue;
        found++;
        *ret_first = i;
    }
    return found;
}
