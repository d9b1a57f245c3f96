/* rule.h - policy files: who may ask for what.
 *
 * One INI file (saphan.policy(5)) holds sections `[allow NAME]`; each is a rule.  A request is
 * admitted by the first rule that names its user or group and allows all of it; no rule: refused.
 * Parsing is pure: the caller reads the file and hands over its text and, for user and group
 * names, a resolver.  An unknown key or section, an empty file, a bad value is an error with a
 * line number; never a default.
 */
#pragma once

#include "limit.h"
#include "own.h"
#include "rungs.h"
#include "strict_ini.h"
#include "terms.h"

#define RULE_LIST_MAX 64

/* Nested=: a program of the leg makes a call that builds a sandbox.  In a domain it is refused
 * whatever is said here. */
enum nested_answer {
    NESTED_RED = 0, /* `refuse`, the default: and the leg's verdict is RED */
    NESTED_KILL,    /* and the leg is ended at once */
    NESTED_NOTE,    /* and it is told, no more: for tools that sandbox themselves and cope */
    NESTED_ALLOW,   /* in a container it is let through; in a domain it is as `refuse` */
};

struct rule {
    char *name;
    char *file; /* where it stands, for messages */
    unsigned int line;

    bool any_user; /* User=* */
    uint32_t users[RULE_LIST_MAX];
    size_t n_users;
    uint32_t groups[RULE_LIST_MAX];
    size_t n_groups;

    uint32_t boundaries; /* bit (1 << enum boundary) */
    uint32_t views;
    uint32_t nets;
    char *vendors[RULE_LIST_MAX]; /* "*" is any */
    size_t n_vendors;
    char *
        read_ceilings[RULE_LIST_MAX]; /* absolute, normal; "~" already expanded per user at admit */
    size_t n_read_ceilings;
    char *write_ceilings[RULE_LIST_MAX];
    size_t n_write_ceilings;
    char *hosts[RULE_LIST_MAX]; /* Host=: patterns of hosts.h, each good as a ceiling */
    size_t n_hosts;
    char *unix_ceilings[RULE_LIST_MAX]; /* Forward-Unix=: as read_ceilings, without "~" */
    size_t n_unix_ceilings;
    char *carve_outs[RULE_LIST_MAX]; /* further names that stay read-only in a workspace */
    size_t n_carve_outs;
    uint64_t demanded_rungs;     /* Require-Rung= */
    struct limits ceiling;       /* at most; 0 = no ceiling */
    struct limits standard;      /* what a request that names no limit gets */
    uint64_t legs_at_once;       /* 0 = 64 */
    uint64_t legs_per_minute;    /* 0 = 6000 */
    char *images[RULE_LIST_MAX]; /* Image=: a name, a name's beginning and `*`, or `own` */
    size_t n_images;
    bool image_add;         /* Image-Add=yes: may add and remove images of its own */
    uint64_t image_bytes;   /* of one image, unpacked; 0 = 8G */
    uint64_t image_entries; /* 0 = 500000 */
    uint64_t capabilities;  /* Capabilities=: bits of capability.h that a container may ask for */
    bool see_all;           /* Operator=yes: sees and kills everybody's legs */
    enum nested_answer nested;
    bool steering_refused; /* Steering=refuse: a workspace that steers its vendor is refused */
    bool rewritten_red;    /* Profile-Rewritten=red */
    bool require_nests;    /* Require-Cell=NESTS: a vendor must have been seen working inside */
    bool may_measure;      /* Measure=yes: the machine, and cells of the matrix */
    bool
        test_only_nested; /* Test-Only-Start-With-Nested-Sandbox=yes: not judged before the start */
};

struct policy {
    struct rule *rules;
    size_t n_rules;
};

struct policy_error {
    unsigned int line;
    char message[480]; /* says what was found and what would be right */
};

/* Looks NAME up in the user or group database; not pure, so it is the caller's.  0 or -ENOENT. */
struct name_resolver {
    int (*user)(void *context, const char *name, uint32_t *ret_uid);
    int (*group)(void *context, const char *name, uint32_t *ret_gid);
    void *context;
};

/* Appends the rules of one file's TEXT to POLICY.  -EINVAL with *ret_error filled. */
int policy_parse(struct policy *policy, const char *file, const char *text,
    const struct name_resolver *resolver, struct strict_ini_error *ret_error);
void policy_done(
    struct policy *policy); /* frees what policy_parse() made; POLICY itself is the caller's */
