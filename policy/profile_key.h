/* profile_key.h - the keys of a vendor's file.  Used by profile.c alone. */
#pragma once

#include "profile.h"

enum profile_section {
    SECTION_NONE,
    SECTION_VENDOR,
    SECTION_SWITCH,
    SECTION_PROBE,
    SECTION_STEER,
    SECTION_BUDGET,
};

struct profile_parser {
    struct strict_ini ini;
    const char *expected_name;
    struct profile profile;
    enum profile_section section;
    uint64_t seen; /* bit (1 << row of the table of keys): met in this section */
};

/* A copy of TEXT that lives as long as the profile.  NULL with the result -ENOMEM. */
const char *profile_keep(struct profile_parser *parser, const char *text);

/* Takes one `KEY=VALUE` of the open section. */
int profile_take_key(struct strict_ini *ini, const char *key, const char *value);
