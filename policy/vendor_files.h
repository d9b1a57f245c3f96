/* vendor_files.h - which files of seat home and workspace are looked at for a vendor, before its
 * leg and after it, and what was found in them.  Pure.
 */
#pragma once

#include "nesting.h"

#define VENDOR_FILES_MAX 144

enum vendor_file_kind {
    VENDOR_FILE_SETTINGS,   /* of the seat home: told when the leg changed it */
    VENDOR_FILE_PERMISSION, /* of the workspace: told that it reached this vendor */
    VENDOR_FILE_STEER,      /* of the workspace: told, or refused by the rule */
};

struct vendor_file {
    enum vendor_file_kind kind;
    enum profile_place place;
    uint32_t directory; /* of PLACE_WORKSPACE: which of the directories that are looked in */
    const char *path;
    const char *key;                   /* looked for in it; NULL: the file itself counts, by hash */
    const struct profile_steer *steer; /* of VENDOR_FILE_STEER */
};

struct vendor_file_state {
    enum nesting_found found;
    char value[NESTING_VALUE_MAX]; /* of KEY; else of the hash, in hexadecimal */
};

/* The number of FILES filled in; what lies in the workspace is looked for in each of N_DIRECTORIES.
 * A steer that the command shuts out is none.  -E2BIG: they are too many. */
int vendor_files(const struct profile *profile, const struct nesting_command *command,
    uint32_t n_directories, struct vendor_file files[VENDOR_FILES_MAX]);

bool vendor_file_changed(
    const struct vendor_file_state *before, const struct vendor_file_state *after);

/* "created, sha256 ...", "removed, ...", "rewritten, ... before, ... now". */
void vendor_file_change(const struct vendor_file_state *before,
    const struct vendor_file_state *after, char *out, size_t size);

/* What FILE (called PATH), which steers, does and what helps. */
void vendor_file_steers(const struct vendor_file *file, const char *path,
    const struct vendor_file_state *state, char *out, size_t size);

/* "sha256 ...", or "not readable". */
void vendor_file_show(const struct vendor_file_state *state, char *out, size_t size);

/* In how many of FILES something steers; *RET_FIRST is the first of them. */
uint32_t vendor_files_steering(const struct vendor_file *files,
    const struct vendor_file_state *states, uint32_t count, uint32_t *ret_first);
