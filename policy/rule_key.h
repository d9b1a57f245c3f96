/* rule_key.h - the keys of a rule: how the value of each is read.  Used by rule.c alone. */
#pragma once

#include "rule.h"

/* Where the parser stands, shared by rule.c (sections) and rule_key.c (values). */
struct rule_parser {
    struct strict_ini ini;
    struct policy *policy;
    const char *file;
    const struct name_resolver *resolver;
    struct rule *rule;  /* the open section, NULL before the first */
    uint64_t seen;      /* bit (1 << row of the table of keys): met in this section */
    uint32_t ceilings;  /* bit (1 << enum limit_id): met in Limit-Ceiling= */
    uint32_t standards; /* the same of Limit-Default= */
};

/* Records the first failure with the current line, returns -EINVAL. */
#define rule_error(parser, ...) strict_ini_error(&(parser)->ini, __VA_ARGS__)

/* Takes one `KEY=VALUE` into parser->rule.  -EINVAL with the error recorded, -ENOMEM. */
int rule_take_key(struct rule_parser *parser, const char *key, const char *value);
